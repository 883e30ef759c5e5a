"""What a measurement gives: one row per turn, their means by group, and what is needed to make it again."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import Any

from pydantic import Field

from condensery.errors import ConfigError
from condensery.evals.data import STANDALONE_KINDS
from condensery.evals.metrics import Change, interval, percentile
from condensery.retrieval.types import Frozen

PEER = "llamaindex"
"""What LlamaIndex's own chat engine is called in results."""


class Row(Frozen):
    """One turn under one configuration."""

    case: str
    kind: str
    follow_up: bool
    message: str
    question: str | None = Field(description="What was searched for; null when no search ran.")
    ranks: tuple[int | None, ...] = Field(description="Rank of each wanted passage or fact, null when not found.")
    metrics: dict[str, float]
    change: Change | None = Field(None, description="Against the raw message, found by the same method.")
    fallback: str | None = None
    notes: tuple[str, ...] = ()
    ms: dict[str, float] = Field(default_factory=dict)

    @property
    def unchanged(self) -> bool:
        """Whether the message itself was searched for."""
        return self.question is not None and self.question == " ".join(self.message.split())


class Group(Frozen):
    """The means over some turns."""

    turns: int
    metrics: dict[str, float]
    interval: tuple[float, float] = Field(description="95 % confidence interval of the score.")
    better: float | None = Field(description="Share of turns found better than with the raw message.")
    harm: float | None = Field(description="Share of turns found worse than with the raw message.")


class Configuration(Frozen):
    """An engine and a method, and how they did."""

    engine: str
    method: str
    complete: bool = True
    groups: dict[str, Group]
    fallbacks: dict[str, int]
    unchanged: float
    degraded: dict[str, int]
    ms: dict[str, dict[str, float]] = Field(description="Per stage: p50 and p95 in milliseconds.")
    rows: tuple[Row, ...]

    @property
    def name(self) -> str:
        return f"{self.engine} · {self.method}"


class Skipped(Frozen):
    """An engine or a method that was not measured, and why."""

    name: str
    reason: str


class Result(Frozen):
    """One run of `condensery eval`."""

    command: str
    data: str
    score: str = Field(description="The metric by which turns count as better or worse than the raw message.")
    created_at: datetime = Field(default_factory=lambda: datetime.now(UTC))
    complete: bool = True
    about: dict[str, Any] = Field(default_factory=dict, description="Settings, models, packages, machine.")
    configurations: tuple[Configuration, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    warnings: tuple[str, ...] = ()
    latency: dict[str, Any] | None = None

    def as_json(self) -> str:
        return self.model_dump_json(indent=2) + "\n"


def summarize(engine: str, method: str, rows: Sequence[Row], score: str, *, complete: bool = True) -> Configuration:
    """The configuration that gave `rows`."""
    return Configuration(
        engine=engine,
        method=method,
        complete=complete,
        groups={name: group_of(members, score) for name, members in grouped(rows).items()},
        fallbacks=dict(Counter(row.fallback for row in rows if row.fallback)),
        unchanged=fmean(row.unchanged for row in rows) if rows else 0.0,
        degraded=dict(Counter(note for row in rows for note in row.notes)),
        ms=times(row.ms for row in rows),
        rows=tuple(rows),
    )


def grouped(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """All turns; those that lean on what went before and those that do not, where kinds say so; and each kind."""
    groups: dict[str, list[Row]] = {"all": list(rows)}
    kinds = sorted({row.kind for row in rows})
    if set(kinds) & set(STANDALONE_KINDS):
        groups["follow_ups"] = [row for row in rows if row.follow_up]
        groups["standalone+topic_shift"] = [row for row in rows if row.kind in STANDALONE_KINDS]
    groups |= {kind: [row for row in rows if row.kind == kind] for kind in kinds}
    return {name: members for name, members in groups.items() if members}


def group_of(rows: Sequence[Row], score: str) -> Group:
    """The means over `rows`, which are some."""
    changes = [row.change for row in rows if row.change]
    return Group(
        turns=len(rows),
        metrics={name: fmean(row.metrics[name] for row in rows) for name in rows[0].metrics},
        interval=interval([row.metrics[score] for row in rows]),
        better=changes.count("better") / len(changes) if changes else None,
        harm=changes.count("worse") / len(changes) if changes else None,
    )


def times(measured: Iterable[dict[str, float]]) -> dict[str, dict[str, float]]:
    """p50 and p95 of each stage."""
    by_stage: dict[str, list[float]] = {}
    for stages in measured:
        for stage, ms in stages.items():
            by_stage.setdefault(stage, []).append(ms)
    return {
        stage: {"p50": round(percentile(values, 50), 2), "p95": round(percentile(values, 95), 2)}
        for stage, values in by_stage.items()
    }


def read_result(file: Path) -> Result:
    """A result from its file. Raises `ConfigError` for a file that is none."""
    try:
        return Result.model_validate_json(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}") from None
    except ValueError:
        raise ConfigError(f"{file} is no result of `condensery eval … --json {file}`") from None
