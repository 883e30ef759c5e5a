"""HyDE in whole turns: what a hypothetical passage changes, where it never goes, what happens without one."""

import asyncio
import logging
from typing import Any

import pytest

from condensery.prompts.loader import prompts_for
from condensery.prompts.locales import LOCALES
from condensery.testing import RecordingEmbedder, ScriptedLLM
from condensery.tests.app.helpers import OpenApp, Recording, events_of, finished, names, notes, whole_database
from condensery.workflows.events import CondensedQuestion, EvidenceReady, HypothesisMade

QUESTION = "How much is a ticket for a dog?"
PROBE = "Quuxford"
PASSAGE = f"A dog travels for 9 {PROBE} francs on every train, as the tariff of the railway says."
ANSWER = "A dog ticket costs little [1]."
GENERATED, QUOTED = {"mode": "generated"}, {"mode": "extractive"}


async def test_the_passage_is_embedded_as_a_document_in_place_of_the_question(corpus_app: OpenApp) -> None:
    embedder = RecordingEmbedder()
    later = {"read_ahead": False}  # which embeds the question for the turn after
    unjudged = {"enabled": False}  # by a guard that compares the question with what was found
    parts = {"answer": GENERATED, "history": later, "guard": unjudged}
    async with corpus_app(ScriptedLLM(PASSAGE), embedder=embedder, **parts) as app:
        turn = await app.ask(QUESTION, method="hyde/semantic")
    assert embedder.documents[0] == PASSAGE
    assert QUESTION not in embedder.texts
    assert turn.method == "hyde/semantic"
    assert notes(turn) == {}


async def test_the_lexical_arm_keeps_the_question(corpus_app: OpenApp) -> None:
    async with corpus_app(ScriptedLLM(PASSAGE), answer=QUOTED) as app:
        plain = await app.ask(QUESTION, method="bm25")
        turn = await app.ask(QUESTION, method="hyde")
    best = {found.chunk.id: found.trace.arms["bm25"].rank for found in turn.evidence if "bm25" in found.trace.arms}
    expected = {found.chunk.id: found.trace.arms["bm25"].rank for found in plain.evidence}
    assert turn.method == "hyde/hybrid"
    assert best
    assert all(expected[id_] == rank for id_, rank in best.items() if id_ in expected)


async def test_a_passage_is_shown_while_the_turn_runs_and_reaches_nothing_that_lasts(
    corpus_app: OpenApp, recording: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    llm = ScriptedLLM(PASSAGE, ANSWER)
    async with corpus_app(llm, answer=GENERATED, rerank=recording) as app:
        events = await events_of(app, QUESTION, method="reranked/hyde", conversation_id="c")
        turn, stored = finished(events), await whole_database(app)
        again = await app.history("c")
    assert [event.passage for event in events if isinstance(event, HypothesisMade)] == [PASSAGE]
    shown = [type(event) for event in events]
    assert shown.index(CondensedQuestion) < shown.index(HypothesisMade) < shown.index(EvidenceReady)
    assert PROBE not in turn.model_dump_json()
    assert PROBE not in "".join(found.model_dump_json() for found in again)
    assert QUESTION in stored
    assert PROBE not in stored
    assert [question for question, _ in Recording.asked] == [QUESTION]
    assert not any(PROBE in passage for _, passages in Recording.asked for passage in passages)
    assert len(llm.calls) == 2
    assert QUESTION in llm.calls[1].text
    assert PROBE not in llm.calls[1].text
    assert PROBE not in caplog.text


async def test_a_stopped_turn_keeps_no_passage_either(corpus_app: OpenApp) -> None:
    answering = asyncio.Event()

    def answer(messages: object) -> str:
        answering.set()
        return ANSWER

    llm = ScriptedLLM(PASSAGE, answer, delay_seconds=0.02, piece_chars=40)
    async with corpus_app(llm, answer=GENERATED) as app:
        task = asyncio.create_task(app.ask(QUESTION, method="hyde", conversation_id="c"))
        await answering.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await app.close()
        assert [turn.outcome for turn in await app.history("c")] == ["stopped"]
        assert PROBE not in await whole_database(app)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "blank"),
        ("I cannot answer.", "refused"),
        ("<think>hmm", "unfinished_thinking"),
        ("word " * 2000, "too_long"),
        (RuntimeError("secret"), "error"),
    ],
)
async def test_without_a_usable_passage_the_question_is_searched_with_and_the_trace_says_so(
    corpus_app: OpenApp, reply: str | Exception, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with corpus_app(ScriptedLLM(reply), answer=QUOTED) as app:
        plain = await app.ask(QUESTION, method="hybrid")
        events = await events_of(app, QUESTION, method="hyde")
    turn = finished(events)
    assert notes(turn) == {"hypothesize": f"hyde: {reason}; searched with the question itself"}
    assert names(turn) == names(plain)
    assert not [event for event in events if isinstance(event, HypothesisMade)]
    assert f"degraded: hyde: {reason}" in caplog.text
    assert "secret" not in "".join(record.getMessage() for record in caplog.records)


@pytest.mark.parametrize("locale", LOCALES)
async def test_the_refusals_of_every_language_fall_back(corpus_app: OpenApp, locale: str) -> None:
    refusal = prompts_for(locale).refusals["openings"][0].capitalize() + "."
    async with corpus_app(ScriptedLLM(refusal), answer=QUOTED) as app:
        turn = await app.ask(QUESTION, method="hyde/semantic")
    assert notes(turn)["hypothesize"].startswith("hyde: refused")
    assert turn.evidence


async def test_a_passage_that_takes_too_long_is_not_waited_for(corpus_app: OpenApp) -> None:
    async with corpus_app(ScriptedLLM("never", gate=asyncio.Event()), answer=QUOTED, hyde={"seconds": 0.05}) as app:
        turn = await app.ask(QUESTION, method="hyde")
    assert notes(turn)["hypothesize"].startswith("hyde: timed_out")
    assert turn.evidence


async def test_without_a_model_the_question_is_searched_with(corpus_app: OpenApp) -> None:
    async with corpus_app(llm={"model": "none"}) as app:
        turn = await app.ask(QUESTION, method="hyde")
    assert notes(turn)["hypothesize"].startswith("hyde: no_model")
    assert turn.evidence


async def test_switched_off_calls_no_model_and_is_no_warning(
    corpus_app: OpenApp, caplog: pytest.LogCaptureFixture
) -> None:
    llm = ScriptedLLM(PASSAGE)
    off = {"enabled": False}
    async with corpus_app(llm, answer=QUOTED, hyde=off, rerank=off) as app:
        plain = await app.ask(QUESTION, method="hybrid")
        turn = await app.ask(QUESTION, method="reranked/hyde")
    assert llm.calls == []
    assert names(turn) == names(plain)
    assert notes(turn) == {
        "hypothesize": "hyde: switched_off; searched with the question itself",
        "rerank": "reranked: switched_off; kept the order of the search",
    }
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]
