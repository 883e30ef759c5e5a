"""Where lines dock at a step: at its upper edge every event it takes, at its lower edge every event it gives."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from condensery.workflows.drawing.graph import FlowGraph, StepNode
from condensery.workflows.drawing.hops import Hop
from condensery.workflows.drawing.ordering import Order


@dataclass(frozen=True)
class Dock:
    """A point on the upper or the lower edge of a step, for the lines of one event."""

    name: str
    event: str


@dataclass(frozen=True)
class Docks:
    """The docks of every step from left to right; events have none, their lines meet in the middle."""

    upper: Mapping[str, tuple[Dock, ...]]
    lower: Mapping[str, tuple[Dock, ...]]

    def source(self, hop: Hop) -> str:
        """The dock, or else the stop, that the hop leaves."""
        return _find(self.lower, hop.a, hop.event)

    def target(self, hop: Hop) -> str:
        """The dock, or else the stop, that the hop reaches."""
        return _find(self.upper, hop.b, hop.event)


def docks_of(graph: FlowGraph, hops: Sequence[Hop], order: Order) -> Docks:
    """The docks of every step, so ordered that no lines cross at the step."""
    at = {name: (row, place) for row, names in enumerate(order) for place, name in enumerate(names)}
    upper: dict[str, tuple[Dock, ...]] = {}
    lower: dict[str, tuple[Dock, ...]] = {}
    for step in graph.steps:
        coming = {hop.event: _place(at, step, hop.a) for hop in hops if hop.b == step.name}
        going = {hop.event: _place(at, step, hop.b) for hop in hops if hop.a == step.name}
        upper[step.name] = _docks(f"{step.name} in", coming)
        lower[step.name] = _docks(f"{step.name} out", going)
    return Docks(upper, lower)


def _find(docks: Mapping[str, tuple[Dock, ...]], stop: str, event: str) -> str:
    return next((dock.name for dock in docks.get(stop, ()) if dock.event == event), stop)


def _place(at: Mapping[str, tuple[int, int]], step: StepNode, other: str) -> float:
    """Where `other` stands for sorting; in the step's own row it is beyond all that stand in the next row."""
    row, place = at[other]
    if row != at[step.name][0]:
        return place
    return -1.0 if place < at[step.name][1] else float("inf")


def _docks(prefix: str, places: Mapping[str, float]) -> tuple[Dock, ...]:
    return tuple(Dock(f"{prefix} {event}", event) for event in sorted(places, key=lambda event: places[event]))
