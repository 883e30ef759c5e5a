"""What is said when the documents do not, or may not, hold the answer."""

import pytest

from condensery.errors import RefusalReason
from condensery.prompts.loader import LOCALES, prompts_for
from condensery.retrieval.types import Chunk, ScoredChunk
from condensery.workflows.events import CondensedQuestion, ContextRejected, QuestionRejected
from condensery.workflows.honesty import MOST_NAMED, MOST_SHOWN, evidence_of, reason_for, refusal, reservation
from condensery.workflows.turn import TurnKey

QUESTION = CondensedQuestion(
    key=TurnKey(turn_id="t", conversation_id="c"), question="A pool?", max_chars=512, engine="simple", condensed=False
)


def rejected(*, chunks: int, missing: tuple[str, ...] = ()) -> ContextRejected:
    found = [ScoredChunk(chunk=Chunk(id=f"{n}", text="x", source="a.md"), score=1.0) for n in range(chunks)]
    return ContextRejected(question=QUESTION, method="hybrid", chunks=tuple(found), missing=missing)


@pytest.mark.parametrize("locale", LOCALES)
def test_a_refusal_names_what_is_missing_and_cites_what_comes_closest(locale: str) -> None:
    prompts = prompts_for(locale)
    text = refusal(prompts, rejected(chunks=5, missing=("pool", "sauna")))
    assert text.startswith(prompts.text("refusal.insufficient_context"))
    assert "“pool”, “sauna”" in text
    assert text.endswith(" ".join(f"[{number}]" for number in range(1, MOST_SHOWN + 1)))
    assert "{{" not in text


@pytest.mark.parametrize("locale", LOCALES)
def test_nothing_is_said_to_be_missing_that_nobody_named(locale: str) -> None:
    prompts = prompts_for(locale)
    assert "“" not in refusal(prompts, rejected(chunks=1))
    assert reservation(prompts, ()) == prompts.text("guard.doubtful")
    assert "“pool”" in reservation(prompts, ("pool",))


def test_only_so_many_missing_things_are_named() -> None:
    text = reservation(prompts_for("en"), tuple(f"thing{n}" for n in range(MOST_NAMED + 3)))
    assert text.count("“") == MOST_NAMED


def test_without_evidence_the_plain_reason_is_told() -> None:
    prompts = prompts_for("en")
    assert refusal(prompts, rejected(chunks=0)) == prompts.text("refusal.nothing_found")
    other = QuestionRejected(reason=RefusalReason.REJECTED_BY_GUARD)
    assert refusal(prompts, other) == prompts.text("refusal.rejected_by_guard")
    assert (reason_for(other), evidence_of(other)) == (RefusalReason.REJECTED_BY_GUARD, ())
