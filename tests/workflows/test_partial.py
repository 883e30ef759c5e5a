"""Turns that end early are put together from what was seen of them, in the same place as finished ones."""

from typing import Any

import pytest

from condensery.errors import RefusalReason
from condensery.retrieval.types import Chunk, ScoredChunk
from condensery.workflows.assembly import assembled
from condensery.workflows.events import (
    AnswerDelta,
    CondensedQuestion,
    EvidenceReady,
    SearchStarted,
    StageFinished,
)
from condensery.workflows.partial import PartialTurn
from condensery.workflows.turn import FallbackReason, Outcome, StageRecord, Turn, TurnKey

KEY = TurnKey(turn_id="t", conversation_id="c")
CHUNK = ScoredChunk(chunk=Chunk(id="k", text="It costs 9 francs.", source="tariffs.md"), score=1.0)
STAGE = StageRecord(stage="condense", ms=1.0)
NOTHING = ("question", "engine", "fallback", "method", "answer_mode", "answer")


def question(*, condensed: bool = True, fallback: FallbackReason | None = None) -> CondensedQuestion:
    text = "How much is a bicycle?" if condensed else "How much?"
    return CondensedQuestion(
        key=KEY, question=text, max_chars=512, engine="condense_context", condensed=condensed, fallback=fallback
    )


def seen(*events: object, outcome: Outcome = Outcome.STOPPED, reason: RefusalReason | None = None) -> Turn:
    partial = PartialTurn(KEY, "How much?")
    for event in events:
        partial.see(event)
    return partial.turn(outcome, reason)


def fields(turn: Turn, *names: str) -> list[Any]:
    return [getattr(turn, name) for name in names]


def test_a_turn_stopped_at_once_has_its_message_and_nothing_else() -> None:
    turn = seen()
    assert (turn.key, turn.message, turn.outcome) == (KEY, "How much?", Outcome.STOPPED)
    assert fields(turn, *NOTHING) == [None, None, None, None, None, ""]


def test_a_turn_stopped_while_it_searches_has_question_engine_and_method() -> None:
    turn = seen(question(), StageFinished(record=STAGE), SearchStarted(method="reranked/hybrid"))
    assert fields(turn, *NOTHING) == ["How much is a bicycle?", "condense_context", None, "reranked/hybrid", None, ""]
    assert turn.stages == (STAGE,)


def test_when_nothing_was_condensed_the_engine_and_its_fallback_are_kept_and_the_question_is_null() -> None:
    turn = seen(question(condensed=False, fallback=FallbackReason.TIMED_OUT))
    assert fields(turn, "question", "engine", "fallback") == [None, "condense_context", FallbackReason.TIMED_OUT]


@pytest.mark.parametrize("mode", ["generated", "extractive"])
def test_a_turn_that_ends_in_its_answer_has_all_of_it_with_its_citations(mode: str) -> None:
    turn = seen(
        question(),
        SearchStarted(method="bm25"),
        EvidenceReady(chunks=(CHUNK,), mode=mode),
        AnswerDelta(text="It costs 9"),
        AnswerDelta(text=" francs [1]."),
        outcome=Outcome.FAILED,
        reason=RefusalReason.BROKEN_OFF,
    )
    assert fields(turn, "method", "answer_mode", "answer") == ["bm25", mode, "It costs 9 francs [1]."]
    assert ([each.chunk_id for each in turn.citations], turn.evidence) == (["k"], (CHUNK,))
    assert (turn.outcome, turn.reason) == (Outcome.FAILED, "broken_off")


def test_a_failure_before_there_was_evidence_has_a_method_and_no_mode() -> None:
    turn = seen(question(), SearchStarted(method="bm25"), EvidenceReady(chunks=()), AnswerDelta(text="Sorry."))
    assert fields(turn, "method", "answer_mode") == ["bm25", None]


def test_finished_turns_and_those_that_end_early_are_put_together_alike() -> None:
    finished = assembled(KEY, "How much?", answer="", outcome=Outcome.STOPPED, question=question(), method="bm25")
    early = seen(question(), SearchStarted(method="bm25"))
    assert finished.model_dump(exclude={"created_at"}) == early.model_dump(exclude={"created_at"})
