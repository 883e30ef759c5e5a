"""What became of one dialogue, judged against what it says should be known at its end. Pure functions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from condensery.evals.memory_data import Asked, Dialogue
from condensery.evals.memory_matching import carried, overlap
from condensery.evals.memory_results import DialogueRow, Extra, Missing, Unrecalled

DEPTH = 5
CLOSE = 0.5
"""Share of common content words from which on a kept fact is a missing one, said otherwise."""

DUPLICATE = "kept twice"
STALE = "no longer true"
JUNK = "from a turn that states nothing"
OTHERWISE = "said otherwise"
WRONG = "not stated"
LOST = "not in the standalone question"
OVERLOOKED = "not found in the standalone question"
NOT_FOUND = "not found"
NOT_NOW = "found, and not kept at the end"


@dataclass(frozen=True)
class Kept:
    """A fact as a system keeps it; `turn` counts from 0 through all sessions, None when it does not say."""

    text: str
    turn: int | None = None


@dataclass
class Played:
    """What a system made of a dialogue: standalone questions by turn, facts current and ever, and what it recalled."""

    questions: dict[int, str | None] = field(default_factory=dict)
    current: list[Kept] = field(default_factory=list)
    ever: list[Kept] = field(default_factory=list)
    recalled: list[list[str]] = field(default_factory=list)
    probed: list[list[str]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    ms: list[dict[str, float]] = field(default_factory=list)


def judged(dialogue: Dialogue, played: Played) -> DialogueRow:
    """The row of a dialogue; `recalled` goes with its questions, `probed` with what is superseded."""
    causes = [cause for _, cause in sorted(_causes(dialogue, played.current).items())]
    right = causes.count(None)
    there = [fact for fact in dialogue.facts if _among(dialogue, fact, [kept.text for kept in played.current])]
    known = [fact for fact in dialogue.superseded if _among(dialogue, fact, [kept.text for kept in played.ever])]
    unresolved = tuple(fact for fact in known if not _is_resolved(dialogue, fact, played))
    unrecalled = _unrecalled(dialogue, played, there)
    free = free_turns(dialogue)
    return DialogueRow(
        user=dialogue.user,
        file=dialogue.place.file.name,
        language=dialogue.language,
        held_out=dialogue.held_out,
        turns=len(dialogue.turns),
        free_turns=len(free),
        expected=len(dialogue.facts),
        right=right,
        kept=sum(cause != "" for cause in causes),
        junk=sum(kept.turn in free and not _among(dialogue, kept.text, dialogue.told) for kept in played.ever),
        asked=len(dialogue.questions),
        recalled=len(dialogue.questions) - len(unrecalled),
        askable=sum(_among(dialogue, each.fact, there) for each in dialogue.questions),
        superseded=len(known),
        resolved=len(known) - len(unresolved),
        missing=tuple(_missing(dialogue, played, fact) for fact in dialogue.facts if fact not in there),
        extra=_extra(dialogue, played.current, causes),
        unrecalled=unrecalled,
        unresolved=unresolved,
        failures=tuple(played.failures),
        ms=tuple(played.ms),
    )


def free_turns(dialogue: Dialogue) -> frozenset[int]:
    """The turns that state no fact at all, not even one that is only tolerated."""
    return frozenset(number for number in range(len(dialogue.turns)) if not dialogue.states(number))


def _causes(dialogue: Dialogue, current: Sequence[Kept]) -> Mapping[int, str | None]:
    """For each fact that is kept, why it should not be: None when it should, "" when it may."""
    free, left, causes = free_turns(dialogue), list(dialogue.facts), dict[int, str | None]()
    for number, kept in enumerate(current):
        match = next((fact for fact in left if dialogue.same(kept.text, fact)), None)
        if match is not None:
            left.remove(match)
            causes[number] = None
        else:
            causes[number] = _cause(dialogue, kept, free)
    return causes


def _cause(dialogue: Dialogue, kept: Kept, free: frozenset[int]) -> str:
    if _among(dialogue, kept.text, dialogue.facts):
        return DUPLICATE
    if _among(dialogue, kept.text, dialogue.superseded):
        return STALE
    if _among(dialogue, kept.text, dialogue.tolerated):
        return ""
    if kept.turn in free:
        return JUNK
    close = any(overlap(kept.text, fact, dialogue.language) >= CLOSE for fact in dialogue.told)
    return OTHERWISE if close else WRONG


def _extra(dialogue: Dialogue, current: Sequence[Kept], causes: Sequence[str | None]) -> tuple[Extra, ...]:
    turns = dialogue.turns
    return tuple(
        Extra(text=kept.text, cause=cause, message=None if kept.turn is None else turns[kept.turn].message)
        for kept, cause in zip(current, causes, strict=True)
        if cause
    )


def _missing(dialogue: Dialogue, played: Played, fact: str) -> Missing:
    stating = [number for number in range(len(dialogue.turns)) if _among(dialogue, fact, dialogue.states(number))]
    questions = [question for number in stating if (question := played.questions.get(number))]
    closeness = {kept.text: overlap(kept.text, fact, dialogue.language) for kept in played.current}
    nearest = max(closeness, key=closeness.__getitem__, default=None)
    if nearest is not None and closeness[nearest] < CLOSE:
        nearest = None
    if _among(dialogue, fact, [kept.text for kept in played.ever]):
        cause = NOT_NOW
    elif nearest:
        cause = OTHERWISE
    elif not played.questions:
        cause = NOT_FOUND
    elif not any(carried(fact, question, dialogue.language) for question in questions):
        cause = LOST
    else:
        cause = OVERLOOKED
    return Missing(fact=fact, cause=cause, question=questions[-1] if questions else None, nearest=nearest)


def _unrecalled(dialogue: Dialogue, played: Played, there: Sequence[str]) -> tuple[Unrecalled, ...]:
    def is_missed(asked: Asked, texts: Sequence[str]) -> bool:
        return not _among(dialogue, asked.fact, texts[:DEPTH])

    return tuple(
        Unrecalled(ask=asked.ask, fact=asked.fact, kept=_among(dialogue, asked.fact, there))
        for asked, texts in zip(dialogue.questions, played.recalled, strict=True)
        if is_missed(asked, texts)
    )


def _is_resolved(dialogue: Dialogue, fact: str, played: Played) -> bool:
    texts = [kept.text for kept in played.current]
    texts += [text for each in (*played.recalled, *played.probed) for text in each]
    return not _among(dialogue, fact, texts)


def _among(dialogue: Dialogue, fact: str, facts: Sequence[str]) -> bool:
    return any(dialogue.same(fact, other) for other in facts)
