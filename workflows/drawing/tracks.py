"""The gap between two rows: on which height each event's lines run sideways, so that none run on top of others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

ON_TOP, CROSSING = 1000, 10
MOST_TO_TRY = 6
"""Up to so many events that run sideways in one gap, every order is tried: 720 of them."""


@dataclass(frozen=True)
class Bus:
    """The lines of one event in a gap: the x at which they come from above, and those at which they go below."""

    event: str
    above: frozenset[float]
    below: frozenset[float]

    @property
    def span(self) -> tuple[float, float]:
        """The leftmost and the rightmost x."""
        both = self.above | self.below
        return min(both), max(both)

    @property
    def sideways(self) -> bool:
        """Whether it takes a track, and does not just fall."""
        return self.span[1] - self.span[0] > 0.5


def tracks_of(buses: Sequence[Bus]) -> dict[str, int]:
    """The track of every event that runs sideways, 0 the uppermost, with the fewest crossings."""
    running = [bus for bus in buses if bus.sideways]
    falling = [bus for bus in buses if not bus.sideways]
    orders = permutations(running) if len(running) <= MOST_TO_TRY else [tuple(sorted(running, key=lambda b: b.span))]
    return min((_packed(order) for order in orders), key=lambda tracks: _cost(running, falling, tracks))


def _packed(order: Sequence[Bus]) -> dict[str, int]:
    """Each bus on the first track below all those before it that it would touch."""
    tracks: dict[str, int] = {}
    placed: list[Bus] = []
    for bus in order:
        touching = [tracks[other.event] for other in placed if _touch(bus, other)]
        tracks[bus.event] = max(touching, default=-1) + 1
        placed.append(bus)
    return tracks


def _touch(one: Bus, other: Bus) -> bool:
    (low, high), (start, end) = one.span, other.span
    return low <= end + 8 and start <= high + 8


def _cost(running: Sequence[Bus], falling: Sequence[Bus], tracks: Mapping[str, int]) -> int:
    cost = max(tracks.values(), default=0)
    for one in running:
        for other in running:
            if one is not other:
                cost += _between(one, other, tracks[one.event], tracks[other.event])
        cost += CROSSING * sum(one.span[0] < min(bus.above | bus.below) < one.span[1] for bus in falling)
    return cost


def _between(one: Bus, other: Bus, track: int, others: int) -> int:
    """What it costs that verticals of `one` cross the track of `other`, or lie on its verticals."""
    low, high = other.span
    crossing = one.below if track < others else one.above
    on_top = sum(abs(x - y) < 3 for x in one.below for y in other.above) if track < others else 0
    return CROSSING * sum(low - 1 < x < high + 1 for x in crossing) + ON_TOP * on_top
