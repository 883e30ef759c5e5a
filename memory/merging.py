"""What becomes of a new fact beside the similar ones that are kept. Pure.

Facts are compared by what they say (`reading.py`), not by how near their vectors are: "I live in Oslo" and "I live in
Bergen" are near, and one takes the place of the other.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from condensery.memory.reading import Reading, read
from condensery.memory.types import Fact, NewFact

HOME = frozenset({"home", "moved", "place"})
REPLACES = {"home": HOME, "moved": HOME}
"""Slots whose facts also take the place of those of another: who moved is no longer where they were."""


WORK = frozenset({"employer", "workplace"})
ENDS = frozenset({"end", "stop"})
"""Kinds of facts that say that something is over: they take the place of what it was."""
MANY = frozenset({"have", "do", "am", "role", "work", "its"})
"""Kinds of which much may hold at a time: one that says something else beside an older one leaves it standing."""


@dataclass(frozen=True)
class Add:
    """Nothing like it is known."""


@dataclass(frozen=True)
class Skip:
    """`duplicate_of` says it already."""

    duplicate_of: Fact


@dataclass(frozen=True)
class Supersede:
    """It takes the place of `facts`, oldest knowledge about the same."""

    facts: tuple[Fact, ...]


Decision = Add | Skip | Supersede


def decide(new: NewFact, similar: Sequence[Fact]) -> Decision:
    """Keep `new`, leave it out as said before, or let it take the place of facts of its slot.

    `similar` should hold what is kept in the slot of `new` and what resembles it. Facts whose numbers, names or other
    words differ are never duplicates; neither are a fact and its denial.
    """
    mine = _reading(new)
    for fact in similar:
        if fact.superseded_by is None and _says_the_same(mine, _reading(fact), new.text, fact.text):
            return Skip(fact)
    older = tuple(fact for fact in similar if fact.superseded_by is None and _takes_its_place(mine, _reading(fact)))
    return Supersede(older) if older else Add()


def replaces(new: NewFact, old: NewFact) -> bool:
    """Whether `new` takes the place of `old`, whichever of them is stored first."""
    return _takes_its_place(_reading(new), _reading(old))


def sayings(fact: NewFact) -> tuple[str, ...]:
    """What it says, in forms of which facts that say the same share at least one."""
    slot, words, denies, _ = _reading(fact)
    plain = _plain(fact.text)
    return (plain, json.dumps([slot, sorted(words), denies])) if words else (plain,)


def _reading(fact: NewFact) -> Reading:
    found = read(fact.text)
    return found if fact.slot is None else found._replace(slot=fact.slot)


def _says_the_same(new: Reading, old: Reading, text: str, known: str) -> bool:
    if _plain(text) == _plain(known):
        return True
    if new.denies != old.denies or new.numbers != old.numbers or not new.words:
        return False
    if (new.slot, old.slot) == ("moved", "home"):
        return new.words <= old.words
    if new.slot != old.slot or new.words == old.words:
        return new.slot == old.slot
    return not new.changes and new.words < old.words and (_is_single(new) or _kind(new) in ("have", "do"))


def _takes_its_place(new: Reading, old: Reading) -> bool:
    """A denial takes the place only of what it denies."""
    if new.slot is None or old.slot is None:
        return False
    if _kind(new) in ENDS:
        return _is_over(new, old)
    if old.slot not in REPLACES.get(new.slot, {new.slot}):
        return _moves_on(new, old)
    if new.denies and not old.denies and _is_single(new):
        return new.words <= old.words or old.words <= new.words
    if _kind(new) in MANY - {"role"} and not _is_single(new):
        return new.changes or new.denies != old.denies or new.numbers != old.numbers or old.words <= new.words
    return True


def _is_over(new: Reading, old: Reading) -> bool:
    """Whether `new` names what is over by words of `old`: a thing that was sold, or the whole of what one has quit."""
    if _kind(old) in ENDS or not new.words or not old.words:
        return False
    if _kind(new) == "stop":
        return new.denies and not old.denies and old.words <= new.words
    return new.words <= old.words


def _moves_on(new: Reading, old: Reading) -> bool:
    """Whether `new` tells by a word for it ("now", "no longer") that what `old` says of the same is over."""
    if {new.slot, old.slot} <= WORK and new.changes:
        return not new.denies or bool(new.words & old.words)
    if _kind(new) != _kind(old) or _kind(new) not in MANY:
        return False
    if new.denies and not old.denies:
        return bool(new.words) and new.words <= old.words
    return new.changes and not old.denies and _is_same_act(new, old)


def _is_same_act(new: Reading, old: Reading) -> bool:
    """Whether both tell of the same doing or role, of something they name both."""
    common = new.words & old.words
    if _kind(new) == "do":
        return _verb(new) == _verb(old) and len(common) > 1
    return _kind(new) in ("am", "role") and bool(common)


def _kind(reading: Reading) -> str:
    return (reading.slot or "").partition(":")[0]


def _verb(reading: Reading) -> str:
    return (reading.slot or "").partition(":")[2].partition(" ")[0]


def _is_single(reading: Reading) -> bool:
    """Whether the slot has one answer, whatever it is; one with a colon holds what it is about."""
    return reading.slot is not None and ":" not in reading.slot


def _plain(text: str) -> str:
    return " ".join("".join(c if c.isalnum() else " " for c in text.casefold()).split())
