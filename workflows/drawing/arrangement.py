"""Everything in its row and column, by the best of the orders with the fewest crossings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from condensery.workflows.drawing.columns import columns_of
from condensery.workflows.drawing.graph import FlowGraph, Tone
from condensery.workflows.drawing.hops import Hop, hops_of
from condensery.workflows.drawing.ordering import Order, orders
from condensery.workflows.drawing.ports import Docks, docks_of
from condensery.workflows.drawing.rows import Rows, rows_of

MOST_ORDERS = 24
"""Of how many orders the columns are worked out, to compare them."""


@dataclass(frozen=True)
class Arrangement:
    """Rows, the order within them, and columns in pixels; `paths` are the hops of each of `rows.ways`."""

    rows: Rows
    paths: tuple[tuple[Hop, ...], ...]
    order: Order
    docks: Docks
    columns: Mapping[str, float]

    def ends(self, hop: Hop) -> tuple[float, float]:
        """The x at which the hop begins and ends."""
        return self.columns[self.docks.source(hop)], self.columns[self.docks.target(hop)]

    @property
    def hops(self) -> list[Hop]:
        """The hops of all paths."""
        return [hop for path in self.paths for hop in path]

    @property
    def sideways(self) -> float:
        """How many pixels lines run sideways in all."""
        return sum(abs(start - end) for start, end in map(self.ends, dict.fromkeys(self.hops)))


def arrange(graph: FlowGraph, widths: Mapping[str, float]) -> Arrangement:
    """The arrangement in which lines run sideways least, with the user's own words to the left."""
    rows = rows_of(graph)
    paths = tuple(hops_of(rows))
    hops = [hop for path in paths for hop in path]
    found = [_arranged(graph, rows, paths, order, widths) for order in orders(rows.listed(), hops)[:MOST_ORDERS]]
    best = min(found, key=lambda one: one.sideways)
    if _own_words_left(graph, best):
        return best
    return _arranged(graph, rows, paths, [row[::-1] for row in best.order], widths)


def _arranged(
    graph: FlowGraph, rows: Rows, paths: tuple[tuple[Hop, ...], ...], order: Order, widths: Mapping[str, float]
) -> Arrangement:
    hops = [hop for path in paths for hop in path]
    docks = docks_of(graph, hops, order)
    return Arrangement(rows, paths, order, docks, columns_of(order, hops, docks, widths))


def _own_words_left(graph: FlowGraph, one: Arrangement) -> bool:
    tones = {event.name: event.tone for event in graph.events}
    own = [hop for hop in one.hops if tones[hop.event] is Tone.OWN]
    others = [hop for hop in one.hops if tones[hop.event] is not Tone.OWN]
    return _mean(one, own) <= _mean(one, others)


def _mean(one: Arrangement, hops: Sequence[Hop]) -> float:
    return sum(sum(one.ends(hop)) / 2 for hop in hops) / len(hops) if hops else 0.0
