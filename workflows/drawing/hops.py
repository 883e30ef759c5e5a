"""A line's way, cut into hops: from one stop to the next, through the gap between two rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from condensery.workflows.drawing.rows import Rows


@dataclass(frozen=True)
class Hop:
    """From stop `a` to stop `b` through gap `gap`, the one below row `gap`; a turn when both stand in one row."""

    event: str
    gap: int
    a: str
    b: str


def hops_of(rows: Rows) -> Iterator[tuple[Hop, ...]]:
    """For each way its hops, in its order."""
    for way in rows.ways:
        pairs = enumerate(pairwise(way.stops))
        yield tuple(Hop(way.event, _gap(rows, a, b, first=number == 0), a, b) for number, (a, b) in pairs)


def _gap(rows: Rows, a: str, b: str, *, first: bool) -> int:
    if rows.row[a] == rows.row[b]:
        return rows.row[a] if first else rows.row[a] - 1
    return min(rows.row[a], rows.row[b])
