import base64
from typing import Any

import pytest

from condensery.prompts.loader import prompts_for
from condensery.retrieval.types import Chunk, ScoredChunk
from condensery.ui.transcript import Place, Transcript, is_unanswered
from condensery.workflows.turn import LENT, Citation, Outcome, StageRecord, Turn, TurnKey

TRANSCRIPT = Transcript(prompts_for("en"))
CHUNK = ScoredChunk(chunk=Chunk(id="c1", text="It costs 9 francs.", source="a/tariffs.md", page=2), score=1.0)
CITED = Citation(number=1, chunk_id="c1", source="a/tariffs.md", page=2, quote="It costs 9 francs.", start=0, end=18)


def turn(**changes: Any) -> Turn:
    """An answered turn with one citation."""
    whole = {
        "key": TurnKey(turn_id="t1", conversation_id="thread"),
        "message": "How much?",
        "question": "How much is a bicycle?",
        "answer": "“It costs 9 francs.” [1]",
        "answer_mode": "extractive",
        "evidence": (CHUNK,),
        "citations": (CITED,),
        "stages": (StageRecord(stage="condense", ms=0.31), StageRecord(stage="retrieve", ms=1234)),
        "outcome": Outcome.ANSWERED,
    }
    return Turn(**(whole | changes))


def names(steps: list[Any]) -> list[str]:
    return [step["name"] for step in steps if step["type"] in ("tool", "undefined")]


def test_a_turn_is_a_message_a_trace_with_stages_and_an_answer() -> None:
    steps = TRANSCRIPT.steps(turn())
    assert [step["type"] for step in steps] == [
        "user_message",
        "run",
        "tool",
        "undefined",
        "undefined",
        "assistant_message",
    ]
    by_id = {step["id"]: step for step in steps}
    assert all(step["parentId"] in by_id for step in steps[1:])
    assert names(steps) == ["Searched for: How much is a bicycle?", "condense · 0.3 ms", "retrieve · 1.2 s"]
    assert steps[-1]["output"] == "“It costs 9 francs.” [1]\n\nSources: [1] tariffs\\.md, page 2"


def test_a_message_that_was_searched_with_has_no_searched_for() -> None:
    assert names(TRANSCRIPT.steps(turn(question=None)))[0] == "Steps"


def test_a_turn_without_stages_has_no_trace() -> None:
    assert names(TRANSCRIPT.steps(turn(stages=()))) == []


def test_what_degraded_is_said_on_the_line_above_the_answer_and_at_its_stage() -> None:
    record = StageRecord(stage="condense", ms=20, note="timed_out", degraded=True)
    steps = TRANSCRIPT.steps(turn(question=None, stages=(record,)))
    assert names(steps) == ["Steps · ⚠ condense: timed_out", "condense · 20 ms · timed_out"]
    assert steps[-2]["isError"]


@pytest.mark.parametrize(
    ("locale", "told"),
    [("en", "Searched for"), ("de", "Gesucht nach"), ("fr", "Recherche effectuée"), ("it", "Ho cercato")],
)
def test_what_was_searched_for_is_told_in_the_persons_language(locale: str, told: str) -> None:
    steps = Transcript(prompts_for(locale)).steps(turn())
    assert names(steps)[0] == f"{told}: How much is a bicycle?"


def test_what_is_as_it_should_be_is_no_failure() -> None:
    steps = TRANSCRIPT.steps(turn(stages=(StageRecord(stage="rerank", ms=20, note="switched off"),)))
    assert names(steps) == ["Searched for: How much is a bicycle?", "rerank · 20 ms · switched off"]
    assert not steps[-2]["isError"]


def test_a_search_that_the_last_turns_lend_to_says_so() -> None:
    steps = TRANSCRIPT.steps(turn(question=None, stages=(StageRecord(stage="condense", ms=20, note=LENT),)))
    assert names(steps)[0] == "Searched for: your words, together with the last turns"


@pytest.mark.parametrize(("answer", "text"), [("It costs", "It costs\n\n*(stopped)*"), ("", "*(stopped)*")])
def test_a_stopped_answer_is_marked(answer: str, text: str) -> None:
    stopped = turn(answer=answer, answer_mode=None, citations=(), outcome=Outcome.STOPPED)
    assert TRANSCRIPT.text(stopped) == text


def test_a_written_answer_keeps_its_markdown_and_a_quoted_one_its_signs() -> None:
    assert TRANSCRIPT.text(turn(answer="*a* b:c", citations=(), answer_mode="generated")) == r"*a* b\:c"
    assert TRANSCRIPT.text(turn(answer="*a* b:c", citations=())) == r"\*a\* b\:c"


def test_the_passages_of_an_answer_are_linked_by_their_numbers_and_carry_their_text() -> None:
    answer = TRANSCRIPT.steps(turn())[-1]
    first, filler = TRANSCRIPT.elements_of(turn())
    assert (first["name"], first["forId"], first["display"]) == ("[1]", answer["id"], "side")
    text = base64.b64decode((first["url"] or "").partition("base64,")[2]).decode()
    assert text.endswith(r"**It costs 9 francs.**")
    assert filler["name"] not in answer["output"]


def test_a_citation_without_evidence_opens_nothing() -> None:
    assert TRANSCRIPT.elements_of(turn(evidence=())) == []


def test_messages_that_wait_for_their_answer_are_known_as_such() -> None:
    waiting = TRANSCRIPT.unanswered("thread", ["One?", "Two?"], turn().created_at)
    assert [step["output"] for step in waiting if step["type"] == "user_message"] == ["One?", "Two?"]
    assert all(map(is_unanswered, waiting))
    assert not any(map(is_unanswered, TRANSCRIPT.steps(turn())))


def test_a_hypothetical_passage_is_shown_below_its_stage_and_gone_after_a_reload() -> None:
    record = StageRecord(stage="hypothesize", ms=1)
    place = Place("thread", "turn", "turn.run", "2024-01-01T00:00:00Z")
    live = TRANSCRIPT.stage(place, 0, record, "Dogs *pay*.")
    assert live["output"] == r"Dogs \*pay\*\."
    stored = TRANSCRIPT.steps(turn(stages=(record,)))
    assert all("Dogs" not in step["output"] for step in stored)
