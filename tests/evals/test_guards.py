"""Measuring the guard: reading questions, counting, and the questions that are in the repository."""

from collections import Counter
from pathlib import Path

import pytest

from condensery.errors import ConfigError
from condensery.evals.guards import GuardRow, Label, Question, coverage, detection, read_questions, result_of

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "evals" / "fixtures" / "guards"


def row(
    label: Label,
    *,
    refused: bool = False,
    doubtful: bool = False,
    found: float | None = None,
    first: float | None = None,
) -> GuardRow:
    return GuardRow(
        question="q", language="en", label=label, refused=refused, doubtful=doubtful,
        reason=None, searches=1, found=found, found_first=first, note=None,
    )  # fmt: skip


def test_precision_and_recall_of_insufficient() -> None:
    rows = [
        row("answerable"),
        row("answerable", refused=True),
        row("partly", doubtful=True),
        row("unanswerable", refused=True),
        row("unanswerable", doubtful=True),
        row("unanswerable"),
        row("out_of_scope", refused=True),
    ]
    refused = detection(rows, lambda each: each.refused)
    held_back = detection(rows, lambda each: each.held_back)
    assert (refused.precision, refused.recall, refused.false_refusals) == (2 / 3, 0.5, 1 / 3)
    assert (held_back.precision, held_back.recall, held_back.false_refusals) == (3 / 5, 0.75, 2 / 3)


def test_a_share_of_nothing_is_none() -> None:
    found = detection([row("answerable")], lambda each: each.refused)
    assert (found.precision, found.recall, found.false_refusals) == (None, None, 0)


def test_all_documents_of_a_question_must_be_found() -> None:
    questions = [Question(question="q", label="answerable", sources=("a", "b"))] * 2
    questions.append(Question(question="q", label="answerable", sources=("a",)))
    rows = [row("answerable", found=1, first=0.5), row("answerable", found=0.5, first=0.5), row("answerable", found=1)]
    found = coverage(questions, rows)
    assert found is not None
    assert (found.questions, found.one_search, found.with_hops) == (2, 0, 0.5)
    assert coverage(questions[2:], rows[2:]) is None


def test_a_result_tells_languages_and_labels_apart_and_whether_it_is_whole() -> None:
    questions = [Question(question="q", label="answerable"), Question(question="q", language="de", label="partly")]
    rows = [row("answerable", refused=True), row("partly").model_copy(update={"language": "de"})]
    whole, part = result_of("x", {}, questions, rows), result_of("x", {}, questions, rows[:1])
    assert (whole.complete, part.complete) == (True, False)
    assert (list(whole.refused), list(part.refused)) == (["all", "de", "en"], ["all"])
    assert whole.labels["answerable"] == {"refused": 1, "reservation": 0, "answered": 0}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "no question"),
        ('{"question": "q", "label": "maybe"}', "q.jsonl:1: label"),
        ('{"question": "", "label": "partly"}', "q.jsonl:1: question"),
        ('{"question": "q", "label": "partly"}\n\nnonsense', "q.jsonl:3"),
    ],
)
def test_what_is_wrong_with_a_file_is_named_with_its_line(tmp_path: Path, text: str, named: str) -> None:
    file = tmp_path / "q.jsonl"
    file.write_text(text)
    with pytest.raises(ConfigError, match=named):
        read_questions(file)


def test_the_questions_in_the_repository_are_of_every_kind_and_name_documents_that_exist() -> None:
    single, several = (read_questions(FIXTURES / f"{name}.jsonl") for name in ("questions", "two-documents"))
    labels = Counter(question.label for question in single)
    assert len(single) >= 120
    assert min(labels.values()) >= 15
    assert {question.language for question in single} == {"en", "de", "fr", "it"}
    assert len(several) >= 25
    assert all(question.needs_several for question in several)
    texts = [question.question for question in (*single, *several)]
    assert len(texts) == len(set(texts))
    documents = {path.name for path in (ROOT / "examples" / "docs").iterdir()}
    for question in (*single, *several):
        assert set(question.sources) <= documents
        assert bool(question.sources) == (question.label in ("answerable", "partly"))
