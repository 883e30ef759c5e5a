"""Where things stand from left to right: no two overlap, and lines are as straight and short as they can be."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from condensery.workflows.drawing.hops import Hop
from condensery.workflows.drawing.linear import Apart, Pull, place
from condensery.workflows.drawing.ordering import Order
from condensery.workflows.drawing.ports import Dock, Docks

SPACE, LANE = 22.0, 14.0
"""Pixels between two boxes, and beside a line that runs past."""

DOCKS, CLOSER, CORNER = 24.0, 0.6, 14.0
"""Pixels between two docks of a step that is wide enough, the share of it that is enough, and pixels from a corner."""

STRAIGHT = {0: 2.0, 1: 2.0, 2: 8.0}
"""What a pixel sideways costs, by how many of a hop's ends are places kept for a line."""

SOONER = 0.02
"""What it costs more in every row further down: one bend early, not many small ones."""

NARROW = 0.2
"""What a pixel of the whole drawing's width costs."""

SLACK, NEAR, FAR = 18.0, 0.3, 4.0
"""A dock may be so many pixels off its place in an even row of docks at little cost, and farther off at a high one."""


def columns_of(order: Order, hops: Sequence[Hop], docks: Docks, widths: Mapping[str, float]) -> dict[str, float]:
    """The middle of everything in `order`, and every dock, in pixels from the left.

    What `widths` does not name is a place kept for a line.
    """
    names = [name for row in order for name in row]
    rows = [(name, row) for side in (docks.upper, docks.lower) for name, row in side.items() if row]
    apart = [*_apart(order, widths), *(demand for name, row in rows for demand in _within(name, row, widths[name]))]
    pulls = [*_pulls(hops, docks, widths), *(pull for name, row in rows for pull in _centred(name, row, widths[name]))]
    pulls.append(Pull([(name, 0.0) for name in names], NARROW))
    points = [point for _, row in rows for dock in row for point in (dock.name, _tether(dock))]
    found = place([*names, *points], apart, pulls)
    left = min(found[name] - widths.get(name, 0.0) / 2 for name in names)
    return {name: x - left for name, x in found.items()}


def _apart(order: Order, widths: Mapping[str, float]) -> Iterator[Apart]:
    for row in order:
        for left, right in pairwise(row):
            space = SPACE if left in widths and right in widths else LANE
            yield Apart(left, right, (widths.get(left, 0.0) + widths.get(right, 0.0)) / 2 + space)


def _within(step: str, row: Sequence[Dock], width: float) -> Iterator[Apart]:
    """Docks keep to the edge of their step, and from each other."""
    yield Apart(step, row[0].name, CORNER - width / 2)
    yield Apart(row[-1].name, step, CORNER - width / 2)
    for left, right in pairwise(row):
        yield Apart(left.name, right.name, _between(row, width) * CLOSER)
    for dock in row:
        yield Apart(dock.name, _tether(dock), -SLACK)
        yield Apart(_tether(dock), dock.name, -SLACK)


def _centred(step: str, row: Sequence[Dock], width: float) -> Iterator[Pull]:
    first = -_between(row, width) * (len(row) - 1) / 2
    for number, dock in enumerate(row):
        ideal = (step, first + number * _between(row, width))
        yield Pull([(dock.name, 0.0), ideal], NEAR)
        yield Pull([(_tether(dock), 0.0), ideal], FAR)


def _tether(dock: Dock) -> str:
    """A point that is never far from the dock, and is drawn to the dock's best place in its stead."""
    return f"{dock.name} tether"


def _between(row: Sequence[Dock], width: float) -> float:
    return min(DOCKS, (width - 2 * CORNER) / max(1, len(row) - 1))


def _pulls(hops: Sequence[Hop], docks: Docks, widths: Mapping[str, float]) -> Iterator[Pull]:
    for hop in dict.fromkeys(hops):
        free = (hop.a not in widths) + (hop.b not in widths)
        yield Pull([(docks.source(hop), 0.0), (docks.target(hop), 0.0)], STRAIGHT[free] + SOONER * hop.gap)
