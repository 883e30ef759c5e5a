"""A layered layout of a workflow's graph, top to bottom: boxes that never overlap, and lines that never cross a box."""

from collections.abc import Mapping
from dataclasses import dataclass

from condensery.workflows.drawing.arrangement import Arrangement, arrange
from condensery.workflows.drawing.graph import FlowGraph
from condensery.workflows.drawing.hops import Hop
from condensery.workflows.drawing.rows import Way
from condensery.workflows.drawing.tracks import Bus, tracks_of

ABOVE, BELOW, TRACK = 9.0, 14.0, 9.0
"""Pixels between a row and the first track below it, the last track and the row below it, and two tracks."""

Point = tuple[float, float]
Size = tuple[float, float]


@dataclass(frozen=True)
class Box:
    """A step or an event: its middle and its size, in pixels."""

    x: float
    y: float
    width: float
    height: float

    @property
    def top(self) -> float:
        return self.y - self.height / 2

    @property
    def bottom(self) -> float:
        return self.y + self.height / 2


@dataclass(frozen=True)
class Line:
    """The corners of the way from `source` to `target`, one of which is `event`."""

    event: str
    source: str
    target: str
    points: tuple[Point, ...]
    loop: bool


@dataclass(frozen=True)
class Layout:
    """Everything in its place, within `width` × `height` pixels from (0, 0)."""

    width: float
    height: float
    boxes: Mapping[str, Box]
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class _Heights:
    """The middle of each row, and the y of each event's track by gap; gap -1 is above the first row."""

    middles: tuple[float, ...]
    tracks: Mapping[tuple[int, str], float]
    end: float


def layout_of(graph: FlowGraph, sizes: Mapping[str, Size]) -> Layout:
    """The layout of `graph` with steps and events of these sizes (width, height) in pixels; always the same one."""
    found = arrange(graph, {name: width for name, (width, _) in sizes.items()})
    heights = _heights(found, sizes)
    boxes = {
        name: Box(found.columns[name], heights.middles[found.rows.row[name]], *size) for name, size in sizes.items()
    }
    lines = tuple(
        _line(way, path, found, boxes, heights) for way, path in zip(found.rows.ways, found.paths, strict=True)
    )
    corners = [x for line in lines for x, _ in line.points]
    width = max([box.x + box.width / 2 for box in boxes.values()] + corners)
    return Layout(width, heights.end, boxes, lines)


def _heights(found: Arrangement, sizes: Mapping[str, Size]) -> _Heights:
    tracks: dict[tuple[int, str], float] = {}
    middles: list[float] = []
    y = 0.0
    for gap in range(-1, len(found.order)):
        if gap >= 0:
            height = max(sizes[name][1] for name in found.order[gap] if name in sizes)
            middles.append(y + height / 2)
            y += height
        levels = tracks_of(_buses(found, gap))
        tracks |= {(gap, event): y + ABOVE + TRACK * level for event, level in levels.items()}
        if levels or 0 <= gap < len(found.order) - 1:
            y += ABOVE + TRACK * max(levels.values(), default=0) + BELOW
    return _Heights(tuple(middles), tracks, y)


def _buses(found: Arrangement, gap: int) -> list[Bus]:
    """The lines in a gap, by event."""
    above: dict[str, set[float]] = {}
    below: dict[str, set[float]] = {}
    for hop in {hop for path in found.paths for hop in path if hop.gap == gap}:
        for name, x in zip((hop.a, hop.b), found.ends(hop), strict=True):
            (above if found.rows.row[name] == gap else below).setdefault(hop.event, set()).add(round(x, 1))
    events = sorted(above.keys() | below.keys())
    return [Bus(event, frozenset(above.get(event, ())), frozenset(below.get(event, ()))) for event in events]


def _line(way: Way, path: tuple[Hop, ...], found: Arrangement, boxes: Mapping[str, Box], heights: _Heights) -> Line:
    source, target = boxes[way.stops[0]], boxes[way.stops[-1]]
    start, end = found.ends(path[0])[0], found.ends(path[-1])[1]
    points = [(start, source.bottom)]
    for hop in path:
        left, right = found.ends(hop)
        if (y := heights.tracks.get((hop.gap, hop.event))) is not None and abs(left - right) > 0.5:
            points += [(left, y), (right, y)]
    points.append((end, target.top))
    return Line(way.event, way.stops[0], way.stops[-1], tuple(points), way.loop)
