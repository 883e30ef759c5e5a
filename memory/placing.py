"""Where a new fact belongs among those that are kept: known already, in the place of others, or behind a newer one."""

from collections.abc import Sequence
from dataclasses import dataclass

from condensery.memory.merging import REPLACES, Skip, Supersede, decide, replaces
from condensery.memory.types import Fact, NewFact


@dataclass(frozen=True)
class Place:
    """`older` are superseded by the new fact, which `newer` supersedes: turns may be stored in another order than said.

    At most one of the two is there; neither when the fact is `known`.
    """

    known: bool = False
    older: tuple[Fact, ...] = ()
    newer: Fact | None = None


def place_of(new: NewFact, similar: Sequence[Fact]) -> Place:
    """The place of `new` among the current facts that resemble it or answer the same question."""
    decision = decide(new, similar)
    if isinstance(decision, Skip):
        return Place(known=True)
    others = decision.facts if isinstance(decision, Supersede) else ()
    after = [fact for fact in similar if fact.superseded_by is None and fact.said_at > new.said_at]
    later = [fact for fact in after if fact in others or replaces(fact, new)]
    if later:
        return Place(newer=max(later, key=lambda fact: fact.said_at))
    return Place(older=tuple(others))


def slots_to_compare(new: NewFact) -> list[str]:
    """The slots whose facts `new` may take the place of, or give place to: compared with it however unlike they are."""
    if new.slot is None:
        return []
    behind = {slot for slot, replaced in REPLACES.items() if new.slot in replaced}
    return sorted(REPLACES.get(new.slot, {new.slot}) | behind)
