"""Which row each step and event stands in, and the way of every line through the rows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from condensery.workflows.drawing.graph import FlowGraph, Link
from condensery.workflows.drawing.linear import Apart, Pull, place

SOLE, SHARED, ONWARD = 4.0, 1.0, 2.0
"""How strongly a step draws near the event that it alone gives, an event that others give too, and events a step."""


@dataclass(frozen=True)
class Way:
    """A line from `stops[0]` to `stops[-1]`, steps or events; stops between are places kept free for it.

    Lines of one event share their places. A `loop` leaves below its first stop, climbs, and arrives above its last.
    """

    event: str
    stops: tuple[str, ...]
    loop: bool


@dataclass(frozen=True)
class Rows:
    """Row numbers from 0 at the top, of steps, events and the places kept free for lines."""

    row: Mapping[str, int]
    ways: tuple[Way, ...]

    def listed(self) -> list[list[str]]:
        """The names by row."""
        rows: list[list[str]] = [[] for _ in range(max(self.row.values()) + 1)]
        for name, row in self.row.items():
            rows[row].append(name)
        return rows


def rows_of(graph: FlowGraph) -> Rows:
    """Rows in which all lines run downwards but those that close a loop, with short lines first."""
    events = {event.name for event in graph.events}
    links = list(dict.fromkeys(graph.links()))
    back = loops(links)
    downwards = [link[::-1] if link in back else link for link in links]
    apart = [Apart(upper, lower, 1) for upper, lower in downwards]
    pulls = [Pull([(name, 0.0) for name in link], _weight(link, links, events)) for link in links]
    row = {name: round(value) for name, value in place(graph.names, apart, pulls).items()}
    ways = _ways([link for link in links if link not in back], row, events) + _climbs(back, row, events)
    return Rows(row, tuple(ways))


def loops(links: Sequence[Link]) -> list[Link]:
    """The links that close a circle, for a reader who follows all others from the first on."""
    ahead: dict[str, list[str]] = {}
    for source, target in links:
        ahead.setdefault(source, []).append(target)
    back: list[Link] = []
    done: set[str] = set()

    def visit(name: str, path: frozenset[str]) -> None:
        for target in ahead.get(name, ()):
            if target in path:
                back.append((name, target))
            elif target not in done:
                visit(target, path | {target})
        done.add(name)

    arrived = {target for _, target in links}
    for name in sorted(ahead, key=lambda name: name in arrived):
        if name not in done:
            visit(name, frozenset({name}))
    return back


def _weight(link: Link, links: Iterable[Link], events: set[str]) -> float:
    if link[0] in events:
        return ONWARD
    return SOLE if sum(target == link[1] for _, target in links) == 1 else SHARED


def _ways(links: list[Link], row: dict[str, int], events: set[str]) -> list[Way]:
    """The ways of links that run downwards; adds the places they need to `row`."""
    ways = []
    for source, target in links:
        event, side = (source, "after") if source in events else (target, "before")
        places = [(f"{event} {side} {number}", number) for number in range(row[source] + 1, row[target])]
        row.update(places)
        ways.append(Way(event, (source, *(name for name, _ in places), target), loop=False))
    return ways


def _climbs(links: list[Link], row: dict[str, int], events: set[str]) -> list[Way]:
    """The ways of links that close a loop; adds the places they need to `row`."""
    ways = []
    for source, target in links:
        event = source if source in events else target
        places = [(f"{source} back {target} {number}", number) for number in range(row[source], row[target] - 1, -1)]
        row.update(places)
        ways.append(Way(event, (source, *(name for name, _ in places), target), loop=True))
    return ways
