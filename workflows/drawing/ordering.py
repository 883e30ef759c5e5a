"""The order of things within their rows in which the fewest lines cross (Sugiyama et al. 1981)."""

import random
from collections.abc import Iterator, Sequence
from itertools import combinations

from condensery.workflows.drawing.hops import Hop

Order = list[list[str]]
Pairs = list[list[tuple[str, str]]]
"""By gap: the (upper, lower) neighbours that a line connects."""

STARTS, SWEEPS = 40, 12


def orders(rows: Order, hops: Sequence[Hop], *, seed: int = 0) -> list[Order]:
    """The different orders with the fewest crossings that were found; the same ones on every call."""
    rows, pairs, turns = _with_turns(rows, hops)
    shuffler = random.Random(seed)  # noqa: S311 - starting points, not secrets
    tried: dict[str, tuple[int, Order]] = {}
    for _ in range(STARTS):
        order = [shuffler.sample(row, len(row)) for row in rows]
        for swept in _sweeps(order, pairs):
            kept = [[name for name in row if name not in turns] for row in swept]
            tried.setdefault(repr(kept), (crossings(swept, pairs), kept))
    fewest = min(count for count, _ in tried.values())
    return [order for count, order in tried.values() if count == fewest]


def crossings(order: Order, pairs: Pairs) -> int:
    """How many pairs of lines cross."""
    total = 0
    for gap, between in enumerate(pairs):
        upper, lower = _index(order[gap]), _index(order[gap + 1])
        for (a, b), (c, d) in combinations(between, 2):
            total += (upper[a] - upper[c]) * (lower[b] - lower[d]) < 0
    return total


def _with_turns(rows: Order, hops: Sequence[Hop]) -> tuple[Order, Pairs, set[str]]:
    """`rows` and their neighbours, where a turn is a place of its own in the row beyond the gap that it is in."""
    rows = [list(row) for row in rows]
    where = {name: number for number, row in enumerate(rows) for name in row}
    pairs: Pairs = [[] for _ in rows[1:]]
    turns: set[str] = set()
    for hop in dict.fromkeys(hops):
        if not 0 <= hop.gap < len(pairs):
            continue
        ends = [(hop.a, hop.b)]
        if where[hop.a] == where[hop.b]:
            turn = f"{hop.a} turns to {hop.b}"
            turns.add(turn)
            beyond = hop.gap + 1 if where[hop.a] == hop.gap else hop.gap
            rows[beyond].append(turn)
            where[turn] = beyond
            ends = [(hop.a, turn), (hop.b, turn)]
        pairs[hop.gap] += [(a, b) if where[a] < where[b] else (b, a) for a, b in ends]
    return rows, [list(dict.fromkeys(between)) for between in pairs], turns


def _sweeps(order: Order, pairs: Pairs) -> Iterator[Order]:
    """Down and up again: each row is sorted by where its neighbours stand, then neighbours swap while that helps."""
    above = [{}, *(_neighbours((b, a) for a, b in between) for between in pairs)]
    below = [*(_neighbours(between) for between in pairs), {}]
    seen: set[str] = set()
    for sweep in range(SWEEPS):
        downwards = sweep % 2 == 0
        numbers = range(1, len(order)) if downwards else range(len(order) - 2, -1, -1)
        for number in numbers:
            fixed = _index(order[number - 1 if downwards else number + 1])
            order[number] = _sorted(order[number], (above if downwards else below)[number], fixed)
        order = _swapped(order, above, below)
        if repr(order) in seen:
            return
        seen.add(repr(order))
        yield [list(row) for row in order]


def _neighbours(pairs: Iterator[tuple[str, str]] | list[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, other in pairs:
        found.setdefault(name, []).append(other)
    return found


def _sorted(row: list[str], neighbours: dict[str, list[str]], fixed: dict[str, int]) -> list[str]:
    """`row` by the mean position of each name's neighbours; names without any keep their places."""
    mean = {name: sum(fixed[o] for o in others) / len(others) for name, others in neighbours.items() if others}
    moving = iter(sorted((name for name in row if name in mean), key=lambda name: mean[name]))
    return [next(moving) if name in mean else name for name in row]


def _swapped(order: Order, above: list[dict[str, list[str]]], below: list[dict[str, list[str]]]) -> Order:
    better = True
    while better:
        better = False
        for number, row in enumerate(order):
            sides = []
            if number:
                sides.append((above[number], _index(order[number - 1])))
            if number + 1 < len(order):
                sides.append((below[number], _index(order[number + 1])))
            for at in range(len(row) - 1):
                left, right = row[at], row[at + 1]
                if _cost(left, right, sides) > _cost(right, left, sides):
                    row[at], row[at + 1] = right, left
                    better = True
    return order


def _cost(left: str, right: str, sides: list[tuple[dict[str, list[str]], dict[str, int]]]) -> int:
    """The crossings between the lines of two neighbours in a row."""
    return sum(where[a] > where[b] for near, where in sides for a in near.get(left, ()) for b in near.get(right, ()))


def _index(row: list[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(row)}
