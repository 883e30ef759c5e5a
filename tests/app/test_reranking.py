"""Reranking in whole turns, and which methods a request may ask for."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from condensery.errors import ConfigError, UnknownName
from condensery.models import cross_encoder
from condensery.retrieval.plans import METHOD_NAMES, RULES
from condensery.testing import ScriptedLLM
from condensery.tests.app.helpers import OpenApp, Recording, by_final_rank, events_of, names, notes
from condensery.tests.cross_encoders import save_tiny_cross_encoder
from condensery.workflows.events import StageFinished

QUESTION = "How much is a ticket for a dog?"
JUDGED_BY_LLM = {"reranker": "llm"}
QUOTED = {"mode": "extractive"}


async def test_more_is_searched_for_than_is_kept_and_the_reranker_orders_it(
    corpus_app: OpenApp, recording: dict[str, Any]
) -> None:
    async with corpus_app(rerank={**recording, "candidates": 12, "top_n": 3}) as app:
        turn = await app.ask(QUESTION, method="reranked/bm25")
    ((question, passages),) = Recording.asked
    assert question == QUESTION
    assert len(passages) == 12
    assert turn.method == "reranked/bm25"
    assert len(turn.evidence) == 3
    ranked = by_final_rank(turn)  # the evidence itself is in the order of its citations
    assert [-found.score for found in ranked] == sorted(len(passage) for passage in passages)[:3]
    for rank, found in enumerate(ranked, 1):
        trace = found.trace
        assert trace.final is not None
        assert trace.reranked is not None
        assert (trace.final.rank, trace.reranked.rank) == (rank, rank)
        assert trace.final.score == trace.reranked.score == found.score
        assert trace.arms["bm25"].rank >= 1


async def test_as_many_are_kept_as_a_search_without_reranking_would_give(
    corpus_app: OpenApp, recording: dict[str, Any]
) -> None:
    async with corpus_app(rerank=recording, retrieval={"top_k": 4}) as app:
        turn = await app.ask(QUESTION, method="reranked")
    assert len(turn.evidence) == 4
    assert {"fused", "reranked", "final"} <= {name for name, value in turn.evidence[0].trace if value}
    assert set(turn.evidence[0].trace.arms) <= {"semantic", "bm25"}


async def test_every_result_has_a_final_rank_without_reranking_too(corpus_app: OpenApp) -> None:
    async with corpus_app() as app:
        turn = await app.ask(QUESTION)
    finals = [found.trace.final for found in by_final_rank(turn)]
    assert [final.rank for final in finals if final] == list(range(1, len(turn.evidence) + 1))
    assert [final.score for final in finals if final] == [found.score for found in by_final_rank(turn)]
    assert all(found.trace.reranked is None for found in turn.evidence)


async def test_a_follow_up_is_judged_by_the_question_that_was_searched_for(
    corpus_app: OpenApp, recording: dict[str, Any]
) -> None:
    async with corpus_app(rerank=recording) as app:
        await app.ask("What does the annual pass cost?", conversation_id="c")
        turn = await app.ask("And for children?", conversation_id="c", method="reranked")
    ((question, _),) = Recording.asked
    assert turn.question
    assert question == turn.question


async def test_a_chat_model_can_judge(corpus_app: OpenApp) -> None:
    llm = ScriptedLLM(lambda messages: "yes" if "dog" in (messages[0].content or "").partition("Passage:")[2] else "no")
    async with corpus_app(llm, answer=QUOTED, rerank={**JUDGED_BY_LLM, "candidates": 8}) as app:
        turn = await app.ask(QUESTION, method="reranked")
    assert len(llm.calls) == 8
    verdicts = [found.score for found in by_final_rank(turn)]
    assert verdicts == sorted(verdicts, reverse=True)
    assert verdicts[0] == 1.0
    assert all("dog" in found.chunk.text.lower() for found in turn.evidence if found.score == 1.0)


@pytest.mark.parametrize(("reply", "reason"), [("Perhaps.", "error"), (RuntimeError("secret"), "error")])
async def test_a_reranker_that_fails_leaves_the_order_of_the_search(
    corpus_app: OpenApp, reply: str | Exception, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with corpus_app(ScriptedLLM(reply), answer=QUOTED, rerank=JUDGED_BY_LLM) as app:
        plain = await app.ask(QUESTION, method="semantic")
        turn = await app.ask(QUESTION, method="reranked/semantic")
    assert names(turn) == names(plain)
    assert notes(turn) == {"rerank": f"reranked: {reason}; kept the order of the search"}
    assert "degraded: reranked" in caplog.text


async def test_a_reranker_that_takes_too_long_is_not_waited_for(corpus_app: OpenApp) -> None:
    slow = {**JUDGED_BY_LLM, "seconds": 0.05}
    async with corpus_app(ScriptedLLM("never", gate=asyncio.Event()), answer=QUOTED, rerank=slow) as app:
        turn = await app.ask(QUESTION, method="reranked")
    assert notes(turn)["rerank"].startswith("reranked: timed_out")
    assert turn.evidence


async def test_without_a_model_to_judge_the_order_is_kept(corpus_app: OpenApp) -> None:
    async with corpus_app(llm={"model": "none"}, rerank=JUDGED_BY_LLM) as app:
        turn = await app.ask(QUESTION, method="reranked")
    assert notes(turn)["rerank"].startswith("reranked: no_model")
    assert turn.evidence


async def test_the_reranker_none_searches_for_no_more_than_it_keeps(corpus_app: OpenApp) -> None:
    async with corpus_app(rerank={"reranker": "none"}) as app:
        plain, turn = await app.ask(QUESTION), await app.ask(QUESTION, method="reranked")
    assert names(turn) == names(plain)
    assert notes(turn) == {}


async def test_a_tiny_cross_encoder_judges_in_a_thread_of_its_own(
    corpus_app: OpenApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: set[str] = set()
    load = cross_encoder.load

    def watched(folder: Path) -> Any:
        threads.add(threading.current_thread().name)
        return load(folder)

    monkeypatch.setattr(cross_encoder, "load", watched)
    model = str(save_tiny_cross_encoder(tmp_path / "tiny"))
    async with corpus_app(rerank={"model": model}) as app:
        turn = await app.ask(QUESTION, method="reranked/hyde/semantic")
    assert threads == {"cross-encoder"}
    assert all(found.trace.reranked for found in turn.evidence)


@pytest.mark.parametrize("method", [name for name in METHOD_NAMES if not name.startswith("reranked")])
async def test_the_path_of_the_method_is_kept_with_the_turn(corpus_app: OpenApp, method: str) -> None:
    async with corpus_app(ScriptedLLM("A dog pays little."), answer=QUOTED) as app:
        turn = await app.ask(QUESTION, method=method)
        assert (await app.services.turns.get(turn.key.turn_id)) == turn
    assert turn.method == method


async def test_a_request_for_parts_that_do_not_go_together_is_refused_with_the_rule(corpus_app: OpenApp) -> None:
    async with corpus_app() as app:
        for name, rule in (("hyde/bm25", RULES["hyde"]), ("reranked/reranked", RULES["reranked"])):
            with pytest.raises(ConfigError) as caught:
                await app.ask(QUESTION, method=name)
            assert rule in str(caught.value)
        with pytest.raises(UnknownName, match="no retrieval method 'bm52'; choose one of bm25, hybrid, hyde"):
            await app.ask(QUESTION, method="bm52")
        with pytest.raises(UnknownName):
            await app.ask(QUESTION, method="")


async def test_a_request_for_a_reranker_that_is_not_here_names_the_way_out(corpus_app: OpenApp) -> None:
    async with corpus_app() as app:
        with pytest.raises(ConfigError, match=r"cross-encoder/ms-marco.*rerank\.model"):
            await app.ask(QUESTION, method="reranked")
        assert [name for name in app.services.usable_methods() if name.startswith("reranked")] == []


async def test_settings_that_ask_for_a_model_that_is_not_here_are_refused_at_start(corpus_app: OpenApp) -> None:
    with pytest.raises(ConfigError, match="neither a folder nor in the local model cache"):
        async with corpus_app(retrieval={"method": "reranked"}):
            pass
    async with corpus_app(retrieval={"method": "reranked"}, rerank={"enabled": False}) as app:
        assert (await app.ask(QUESTION)).method == "reranked/hybrid"


async def test_stages_that_do_nothing_are_in_the_trace_all_the_same(corpus_app: OpenApp) -> None:
    async with corpus_app() as app:
        events = await events_of(app, QUESTION, method="semantic")
    ended = [event.record.stage for event in events if isinstance(event, StageFinished)]
    assert {"hypothesize", "retrieve", "rerank"} <= set(ended)
