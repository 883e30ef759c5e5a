"""Measures the guard behind the search: what it takes for insufficient, and whether hops find both documents."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from condensery.errors import ConfigError
from condensery.retrieval.types import Frozen
from condensery.workflows.turn import Outcome, Turn

Label = Literal["answerable", "partly", "unanswerable", "out_of_scope"]
ANSWERED_LABELS = ("answerable", "partly")
"""Labels of questions that the documents answer, at least in part."""


class Question(BaseModel):
    """A labelled question; `sources` are the documents that together hold the answer."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    question: str = Field(min_length=1)
    language: str = "en"
    label: Label
    sources: tuple[str, ...] = ()

    @property
    def needs_several(self) -> bool:
        """Whether the answer is spread over several documents."""
        return len(set(self.sources)) > 1


class GuardRow(Frozen):
    """What became of a question: refused, answered with a reservation, or answered; and what was found."""

    question: str
    language: str
    label: Label
    refused: bool
    doubtful: bool
    reason: str | None
    searches: int
    found: float | None = Field(description="Share of `sources` among the evidence; null when none are named.")
    found_first: float | None = Field(description="The same after the first search alone.")
    note: str | None

    @property
    def held_back(self) -> bool:
        """Whether it was not answered as if the answer were known."""
        return self.refused or self.doubtful


class Detection(Frozen):
    """How well what is insufficient was told from the rest; shares are null where there is nothing to divide by."""

    questions: int
    precision: float | None
    recall: float | None
    false_refusals: float | None = Field(description="Share of what the documents answer, at least in part.")


class Coverage(Frozen):
    """How often all documents of the questions that need several were found."""

    questions: int
    one_search: float
    with_hops: float


class GuardResult(Frozen):
    """A measurement. `refused`: by refusals alone; `held_back`: with answers that make a reservation, too."""

    data: str
    complete: bool
    about: dict[str, Any]
    refused: dict[str, Detection]
    held_back: dict[str, Detection]
    labels: dict[str, dict[str, int]]
    documents: Coverage | None
    rows: tuple[GuardRow, ...]


def read_questions(file: Path) -> list[Question]:
    """The questions of a file, one JSON object a line; raises `ConfigError` naming the line."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} cannot be read: {error}") from error
    found = [_question(file, number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    if not found:
        raise ConfigError(f"{file} holds no question")
    return found


def _question(file: Path, number: int, line: str) -> Question:
    try:
        return Question.model_validate_json(line)
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"])) or "the line"
        raise ConfigError(
            f'{file}:{number}: {where}: {error.errors()[0]["msg"]}; a line is {{"question", "language", "label"}}, '
            f"label one of {', '.join(get_args(Label))}"
        ) from error


def row_of(question: Question, turn: Turn, first: Turn) -> GuardRow:
    """The row of a question that became `turn`, and `first` when one search had to do."""
    searches = [record for record in turn.stages if record.stage == "retrieve"]
    judged = [record.note for record in turn.stages if record.stage == "judge_context"]
    return GuardRow(
        question=question.question,
        language=question.language,
        label=question.label,
        refused=turn.outcome is Outcome.REFUSED,
        doubtful=turn.doubtful,
        reason=turn.reason,
        searches=len(searches),
        found=share(question.sources, turn),
        found_first=share(question.sources, first),
        note=judged[-1] if judged else None,
    )


def share(sources: Sequence[str], turn: Turn) -> float | None:
    """The share of `sources` that the evidence of `turn` is from."""
    found = {each.chunk.source for each in turn.evidence}
    return len(found & set(sources)) / len(set(sources)) if sources else None


def coverage(questions: Sequence[Question], rows: Sequence[GuardRow]) -> Coverage | None:
    """How often every document was found, of the questions that need several; None without any."""
    several = [row for question, row in zip(questions, rows, strict=False) if question.needs_several]
    if not several:
        return None
    whole = len(several)
    return Coverage(
        questions=whole,
        one_search=sum(row.found_first == 1 for row in several) / whole,
        with_hops=sum(row.found == 1 for row in several) / whole,
    )


def detection(rows: Sequence[GuardRow], says_so: Callable[[GuardRow], bool]) -> Detection:
    """Precision and recall of `says_so` as a test for what is insufficient."""
    said = [row for row in rows if says_so(row)]
    wanting = [row for row in rows if row.label not in ANSWERED_LABELS]
    right = sum(row.label not in ANSWERED_LABELS for row in said)
    return Detection(
        questions=len(rows),
        precision=_ratio(right, len(said)),
        recall=_ratio(right, len(wanting)),
        false_refusals=_ratio(len(said) - right, len(rows) - len(wanting)),
    )


def by_language(rows: Sequence[GuardRow]) -> Iterator[tuple[str, list[GuardRow]]]:
    """All rows, then those of each language when there are several."""
    yield "all", list(rows)
    languages = sorted({row.language for row in rows})
    for language in languages if len(languages) > 1 else ():
        yield language, [row for row in rows if row.language == language]


def result_of(data: str, about: dict[str, Any], questions: Sequence[Question], rows: Sequence[GuardRow]) -> GuardResult:
    """All figures of the `rows` that are done, in the order of `questions`."""
    return GuardResult(
        data=data,
        complete=len(rows) == len(questions),
        about=about,
        refused={name: detection(own, lambda row: row.refused) for name, own in by_language(rows)},
        held_back={name: detection(own, lambda row: row.held_back) for name, own in by_language(rows)},
        labels={label: _outcomes([row for row in rows if row.label == label]) for label in get_args(Label)},
        documents=coverage(questions, rows),
        rows=tuple(rows),
    )


def _outcomes(rows: Sequence[GuardRow]) -> dict[str, int]:
    refused, doubtful = sum(row.refused for row in rows), sum(row.doubtful for row in rows)
    return {"refused": refused, "reservation": doubtful, "answered": len(rows) - refused - doubtful}


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
