"""What measuring memory gives: one row per dialogue, and figures by language."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from pydantic import Field

from condensery.evals.results import Skipped, times
from condensery.retrieval.types import Frozen

OURS, MEM0 = "condensery", "mem0"


class Missing(Frozen):
    """A fact that is not kept at the end, and why."""

    fact: str
    cause: str
    question: str | None = Field(description="The standalone question of the turn that states it.")
    nearest: str | None = Field(None, description="What was kept that comes closest, when anything does.")


class Extra(Frozen):
    """A fact that is kept and should not be, and why not."""

    text: str
    cause: str
    message: str | None = Field(description="The message of the turn it is from.")


class Unrecalled(Frozen):
    """A question for which its fact was not recalled."""

    ask: str
    fact: str
    kept: bool = Field(description="Whether the fact was there to be recalled.")


class DialogueRow(Frozen):
    """One dialogue under one system."""

    user: str
    file: str
    language: str
    held_out: bool
    turns: int
    free_turns: int = Field(description="Turns that state no fact.")
    expected: int
    right: int = Field(description="Expected facts that are kept.")
    kept: int = Field(description="Facts that are kept, without those that may be or not.")
    junk: int = Field(description="Facts ever kept from turns that state none.")
    asked: int
    recalled: int = Field(description="Questions whose fact was among the first five recalled.")
    askable: int = Field(description="Questions whose fact is kept.")
    superseded: int = Field(description="Superseded facts that were kept at some time.")
    resolved: int = Field(description="Those of them that are neither current nor recalled any more.")
    missing: tuple[Missing, ...] = ()
    extra: tuple[Extra, ...] = ()
    unrecalled: tuple[Unrecalled, ...] = ()
    unresolved: tuple[str, ...] = ()
    failures: tuple[str, ...] = Field((), description="Turns whose facts could not be found or kept, and why.")
    ms: tuple[dict[str, float], ...] = ()

    @property
    def causes(self) -> list[str]:
        """Why facts are missing, then why facts are too much."""
        return [each.cause for each in self.missing] + [each.cause for each in self.extra]


class MemoryGroup(Frozen):
    """Figures over some dialogues, every fact counting the same; a share of nothing is null."""

    dialogues: int
    turns: int
    facts: int
    precision: float | None
    recall: float | None
    recall_at_5: float | None = Field(description="Questions whose fact was recalled.")
    recall_at_5_of_kept: float | None = Field(description="The same, of the questions whose fact is kept.")
    superseded: int
    resolved: float | None = Field(description="Superseded facts, once kept, that are no longer current or recalled.")
    free_turns: int
    junk_per_100: float | None = Field(description="Facts kept per 100 turns that state none.")


class MemorySystem(Frozen):
    """One way of remembering, and how it did."""

    name: str
    extraction: str
    complete: bool
    groups: dict[str, MemoryGroup]
    causes: dict[str, int] = Field(description="What is missing or too much, by cause.")
    ms: dict[str, dict[str, float]] = Field(description="Per stage: p50 and p95 in milliseconds.")
    rows: tuple[DialogueRow, ...]


class MemoryResult(Frozen):
    """One run of `condensery eval memory`."""

    command: str = "memory"
    data: str
    created_at: datetime = Field(default_factory=lambda: datetime.now(UTC))
    complete: bool = True
    about: dict[str, Any] = Field(default_factory=dict, description="Settings, models, packages, machine.")
    systems: tuple[MemorySystem, ...] = ()
    skipped: tuple[Skipped, ...] = ()

    def as_json(self) -> str:
        return self.model_dump_json(indent=2) + "\n"


def summarize(name: str, extraction: str, rows: Sequence[DialogueRow], *, complete: bool) -> MemorySystem:
    """The system that gave `rows`, which are some."""
    causes = [cause for row in rows for cause in row.causes]
    return MemorySystem(
        name=name,
        extraction=extraction,
        complete=complete,
        groups={group: group_of(members) for group, members in grouped(rows).items()},
        causes={cause: causes.count(cause) for cause in sorted(set(causes))},
        ms=times(each for row in rows for each in row.ms),
        rows=tuple(rows),
    )


def grouped(rows: Sequence[DialogueRow]) -> dict[str, list[DialogueRow]]:
    """All rows, those of each language, and where some are held out, those and the others."""
    belongs: dict[str, Callable[[DialogueRow], bool]] = {"all": lambda row: True}
    for language in sorted({row.language for row in rows}):
        belongs[language] = lambda row, language=language: row.language == language  # type: ignore[misc]
    if any(row.held_out for row in rows):
        belongs |= {"held out": lambda row: row.held_out, "not held out": lambda row: not row.held_out}
    groups = {name: [row for row in rows if belong(row)] for name, belong in belongs.items()}
    return {name: members for name, members in groups.items() if members}


def group_of(rows: Sequence[DialogueRow]) -> MemoryGroup:
    """The figures over `rows`."""

    def total(count: Callable[[DialogueRow], int]) -> int:
        return sum(map(count, rows))

    right, recalled = total(lambda row: row.right), total(lambda row: row.recalled)
    return MemoryGroup(
        dialogues=len(rows),
        turns=total(lambda row: row.turns),
        facts=total(lambda row: row.expected),
        precision=share(right, total(lambda row: row.kept)),
        recall=share(right, total(lambda row: row.expected)),
        recall_at_5=share(recalled, total(lambda row: row.asked)),
        recall_at_5_of_kept=share(recalled, total(lambda row: row.askable)),
        superseded=total(lambda row: row.superseded),
        resolved=share(total(lambda row: row.resolved), total(lambda row: row.superseded)),
        free_turns=total(lambda row: row.free_turns),
        junk_per_100=share(100 * total(lambda row: row.junk), total(lambda row: row.free_turns)),
    )


def share(part: float, whole: float) -> float | None:
    """A share; None of nothing."""
    return part / whole if whole else None
