"""LlamaIndex's own chat engine over our retriever, with a scripted model; and how long either takes."""

import dataclasses
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
from llama_index.core.base.llms.types import ChatMessage

from condensery.app import App
from condensery.errors import ConfigError
from condensery.evals.corpus import index, opened_in
from condensery.evals.data import Data
from condensery.evals.folders import read_folder
from condensery.evals.judging import judge_for
from condensery.evals.latency import BEFORE, FIRST, LatencyRun, against, ours, some_conversations, theirs
from condensery.evals.peer import Peer
from condensery.evals.results import PEER, Row
from condensery.evals.running import Evaluation
from condensery.models.chat import ChatModel
from condensery.settings import Settings
from condensery.testing import ScriptedLLM
from condensery.tests.evals.conftest import Write

REWRITE = "What is the green lamp made of?"


def reply(messages: Sequence[ChatMessage]) -> str:
    """A rewrite where one is asked for, else an answer."""
    asked = messages[-1].content or ""
    return REWRITE if "tandalone question" in asked else "It is made of brass [1]."


@pytest.fixture
async def opened(chat_folder: Write, one_embedder: None, cluster: Path) -> AsyncIterator[tuple[App, Data, ScriptedLLM]]:
    """An app over the chat folder with a scripted model."""
    data, llm = read_folder(chat_folder()), ScriptedLLM(reply)
    async with opened_in(cluster, Settings(), deep=False) as app:
        await index(app, data, lambda done, total: None)
        model = ChatModel(llm, name="scripted", context_window=4096)
        yield App(dataclasses.replace(app.services, model=model)), data, llm


Opened = tuple[App, Data, ScriptedLLM]


async def test_the_peer_condenses_with_its_own_prompt_and_searches_with_our_retriever(opened: Opened) -> None:
    app, data, llm = opened
    found = await Peer(app.services).search(data.cases[1], "hybrid")
    assert found.question == REWRITE
    assert found.chunks[0].chunk.source == "lamps.md"
    assert len(found.chunks) <= app.settings.retrieval.top_k
    (call,) = llm.calls
    assert "rephrase the follow up question" in call.text
    assert "The green lamp costs forty francs." in call.text


async def test_the_peer_does_not_condense_a_first_message(opened: Opened) -> None:
    app, data, llm = opened
    found = await Peer(app.services).search(data.cases[0], "bm25")
    assert found.question == data.cases[0].message
    assert llm.calls == []


async def test_the_peer_is_a_row_of_the_comparison(opened: Opened) -> None:
    app, data, _ = opened
    evaluation = Evaluation(app, data, await judge_for(data, app), lambda name: None)
    await evaluation.run(["simple"], ["hybrid"], Peer(app.services))
    raw, peer = evaluation.configurations()
    assert (raw.engine, peer.engine) == ("simple", PEER)
    assert [row.question for row in peer.rows][1] == REWRITE
    assert all(row.change for row in peer.rows)


async def test_the_peer_needs_a_model_and_a_method_it_can_be_given(opened: Opened) -> None:
    app, _, _ = opened
    with pytest.raises(ConfigError, match=r"set llm\.model"):
        Peer(dataclasses.replace(app.services, model=None))
    with pytest.raises(ConfigError, match="hyde/hybrid"):
        Peer(app.services, ["hybrid", "hyde/hybrid"])


async def test_a_turn_at_which_the_peer_fails_counts_as_not_found(opened: Opened) -> None:
    app, data, _ = opened
    broken = ChatModel(ScriptedLLM(RuntimeError("too long")), name="broken", context_window=4096)
    services = dataclasses.replace(app.services, model=broken)
    evaluation = Evaluation(app, data, await judge_for(data, app), lambda name: None)
    await evaluation.run(["simple"], ["hybrid"], Peer(services))
    _, peer = evaluation.configurations()
    assert peer.fallbacks == {"failed": 2}
    assert [row.ranks for row in peer.rows][1] == (None,)
    timed = LatencyRun(data, evaluation.judge, {PEER: theirs(Peer(services), "hybrid")}, "hybrid", lambda name: None)
    await timed.run(some_conversations(data, 0))
    assert timed.configurations()[0].fallbacks == {"failed": 3}


async def test_both_are_timed_on_the_same_turns_and_stopped_at_the_first_piece(opened: Opened) -> None:
    app, data, llm = opened
    systems = {
        "expand_context": ours(app.services, "expand_context", "hybrid"),
        PEER: theirs(Peer(app.services), "hybrid"),
    }
    done: list[str] = []
    timed = LatencyRun(data, await judge_for(data, app), systems, "hybrid", done.append)
    await timed.run(some_conversations(data, 0))
    mine, peer = timed.configurations()
    assert [row.case for row in mine.rows] == [row.case for row in peer.rows] == [case.name for case in data.cases]
    assert all({BEFORE, "condense", "retrieve", FIRST} <= row.ms.keys() for row in (*mine.rows, *peer.rows))
    assert all(row.ms[BEFORE] <= row.ms[FIRST] for row in (*mine.rows, *peer.rows))
    assert len(done) == 2 * len(data.cases)
    assert llm.finished < len(llm.calls)
    summary = timed.summary()
    assert summary["expand_context"]["turns"] == 1
    assert set(summary["expand_context"]["ratio_to_peer"]) == {"of_medians", "median_of_turns"}
    assert "ratio_to_peer" not in summary[PEER]
    assert [row.ranks for row in mine.rows][1] == (1,)


async def test_a_turn_without_a_model_is_timed_to_its_quotes(opened: Opened) -> None:
    app, data, _ = opened
    waited = await ours(dataclasses.replace(app.services, model=None), "simple", "hybrid")(data.cases[0])
    assert waited.question == data.cases[0].message
    assert waited.ms[BEFORE] <= waited.ms[FIRST]


async def test_a_message_without_a_question_is_no_wait_for_an_answer(opened: Opened) -> None:
    app, data, _ = opened
    pasted = dataclasses.replace(data.cases[1], message="<log>" + "nothing to ask " * 100 + "</log>")
    waited = await ours(app.services, "simple", "hybrid")(pasted)
    assert (waited.question, waited.fallback) == (None, "condensation_empty")
    assert FIRST not in waited.ms


def row(case: str, first: float) -> Row:
    return Row(
        case=case, kind="pronoun", follow_up=True, message="m", question="m", ranks=(1,), metrics={}, ms={FIRST: first}
    )


def test_the_ratio_is_of_the_medians_and_over_turns_of_both() -> None:
    mine = [row("a", 100), row("b", 300), row("c", 400), row("only mine", 9)]
    peer = [row("a", 400), row("b", 500), row("c", 1000), row("only theirs", 9)]
    assert against(mine, peer) == {"of_medians": 0.6, "median_of_turns": 0.4}
    assert against(mine, []) is None


def test_conversations_are_spread_over_the_data(chat_folder: Write) -> None:
    data = read_folder(chat_folder())
    many = dataclasses.replace(
        data, cases=tuple(dataclasses.replace(data.cases[0], conversation=str(number)) for number in range(10))
    )
    assert [cases[0].conversation for cases in some_conversations(many, 3)] == ["0", "3", "6"]
    assert len(some_conversations(many, 0)) == 10
