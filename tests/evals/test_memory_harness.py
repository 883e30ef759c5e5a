"""Dialogues played through the product, with the embedded Postgres, mem0 and the bundled embedding model."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from condensery.app import App
from condensery.errors import ConfigError, ProviderError
from condensery.evals.corpus import opened_in
from condensery.evals.data import Place
from condensery.evals.memory_data import Asked, Dialogue, Said
from condensery.evals.memory_ours import Ours, extraction_of
from condensery.evals.memory_peer import WINDOW, opened_peer, unfit
from condensery.evals.memory_results import MEM0, OURS
from condensery.evals.memory_running import MemoryEvaluation, moments
from condensery.evals.memory_scoring import Kept, Played
from condensery.memory.types import NewFact
from condensery.models.chat import ChatModel
from condensery.settings import Settings
from condensery.testing import ScriptedLLM

CONTEXT = "Annual pass. I live in Rome and I am a plumber."


def dialogue(user: str, **values: Any) -> Dialogue:
    """A person who moves, over two sessions."""
    given: dict[str, Any] = {
        "user": user,
        "language": "en",
        "sessions": (
            (
                Said(message="I live in Oslo. What does the pass cost?", assistant="410 francs."),
                Said(message="And for children?", assistant="80 francs.", context=CONTEXT),
            ),
            (Said(message="I live in Bergen now. What does the pass cost there?", assistant="390 francs."),),
        ),
        "facts": ("I live in Bergen.",),
        "superseded": ("I live in Oslo.",),
        "tolerated": (),
        "questions": (Asked(ask="In which town do I live?", fact="I live in Bergen."),),
        "place": Place(Path(f"{user}.json"), 1),
    }
    return Dialogue(**given | values)


@pytest.fixture
async def app(one_embedder: None, cluster: Path) -> AsyncIterator[App]:
    async with opened_in(cluster, Settings(), deep=False) as app:
        yield app


async def said(question: str, answer: str) -> list[NewFact]:
    """The first sentence of a question, where it is one about the person."""
    first = question.split(". ")[0]
    return [NewFact(text=f"{first}.", slot="home")] if first.startswith("I live") else []


def ours(app: App, find: Any = said) -> Ours:
    return Ours(app.services, find, app.services.memory, "scripted")


def nobody(name: str) -> None:
    pass


def test_a_turn_has_the_turns_of_its_session_before_it_and_its_document_in_it() -> None:
    first, second, third = moments(dialogue("ana"))
    assert (first.history, third.history) == ((), ())
    assert [(each.message, each.answer) for each in second.history] == [(first.message, "410 francs.")]
    assert second.message == f"<context>{CONTEXT}</context>\nAnd for children?"
    assert [each.number for each in (first, second, third)] == [0, 1, 2]
    assert first.key.conversation_id == second.key.conversation_id != third.key.conversation_id
    assert {each.key.user_id for each in (first, second, third)} == {"ana"}


async def test_what_is_said_is_kept_superseded_and_recalled(app: App) -> None:
    evaluation = MemoryEvaluation([dialogue("ana-moves")], nobody)
    await evaluation.run([ours(app)])
    (system,) = evaluation.systems()
    (row,) = system.rows
    assert system.complete
    assert (row.right, row.kept, row.junk) == (1, 1, 0)
    assert (row.superseded, row.resolved) == (1, 1)
    assert (row.asked, row.recalled) == (1, 1)
    assert {"condense", "extract", "store", "recall"} <= set(system.ms)


async def test_no_document_reaches_what_facts_are_found_in(app: App) -> None:
    seen: list[str] = []

    async def listening(question: str, answer: str) -> list[NewFact]:
        seen.extend((question, answer))
        return []

    await MemoryEvaluation([dialogue("ana-listens")], nobody).run([ours(app, listening)])
    assert len(seen) == 6
    assert not [text for text in seen if "Rome" in text or "plumber" in text]


async def test_people_of_different_dialogues_know_nothing_of_each_other(app: App) -> None:
    silent = dialogue("ben-silent", sessions=((Said(message="What does the pass cost?"),),))
    evaluation = MemoryEvaluation([dialogue("ana-talks"), silent], nobody)
    await evaluation.run([ours(app)])
    _, row = evaluation.systems()[0].rows
    assert (row.kept, row.recalled) == (0, 0)
    assert [each.cause for each in row.missing] == ["not in the standalone question"]


async def test_small_talk_keeps_nothing_and_is_no_failure(app: App) -> None:
    played = Played()
    (moment,) = moments(dialogue("ana-greets", sessions=((Said(message="Hello!"),),)))
    await ours(app).take_in(moment, played)
    assert played.questions == {0: None}


async def test_a_turn_that_fails_is_told_and_the_others_count(app: App) -> None:
    async def failing(question: str, answer: str) -> list[NewFact]:
        if "Bergen" in question:
            raise ProviderError("the model is busy; try again")
        return await said(question, answer)

    evaluation = MemoryEvaluation([dialogue("ana-fails")], nobody)
    await evaluation.run([ours(app, failing)])
    (row,) = evaluation.systems()[0].rows
    assert row.failures == ("turn 3: the model is busy; try again",)
    assert row.unresolved == ("I live in Oslo.",)


async def test_wrong_settings_end_the_measurement(app: App) -> None:
    async def wrong(question: str, answer: str) -> list[NewFact]:
        raise ConfigError("no such model")

    with pytest.raises(ConfigError, match="no such model"):
        await MemoryEvaluation([dialogue("ana-wrong")], nobody).run([ours(app, wrong)])


async def test_dialogues_that_were_played_to_their_end_survive_an_interruption(app: App) -> None:
    reached = asyncio.Event()

    async def hanging(question: str, answer: str) -> list[NewFact]:
        if "lake" in question:
            reached.set()
            await asyncio.sleep(3600)
        return await said(question, answer)

    stuck = dialogue("ben-hangs", sessions=((Said(message="How deep is the lake of Como?"),),))
    evaluation = MemoryEvaluation([dialogue("ana-first"), stuck], nobody)
    running = asyncio.create_task(evaluation.run([ours(app, hanging)]))
    await reached.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    (system,) = evaluation.systems()
    assert not system.complete
    assert [row.user for row in system.rows] == ["ana-first"]


async def test_the_rules_of_the_settings_find_facts_without_a_model(app: App) -> None:
    assert extraction_of(app.services) == "rules"
    evaluation = MemoryEvaluation([dialogue("ana-by-rules")], nobody)
    await evaluation.run([Ours.of(app.services)])
    (system,) = evaluation.systems()
    assert (system.name, system.extraction) == (OURS, "rules")
    assert [(row.right, row.kept, row.resolved, row.recalled) for row in system.rows] == [(1, 1, 1, 1)]


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (None, "it needs a model"),
        (ChatModel(ScriptedLLM("x"), name="small", context_window=32_000, capable=False), "it needs a capable model"),
        (ChatModel(ScriptedLLM("x"), name="short", context_window=4096), "short has 4,096: set llm.context_window"),
    ],
)
def test_mem0_by_its_defaults_says_why_it_cannot_run(model: ChatModel | None, reason: str) -> None:
    assert reason in (unfit(model) or "")


async def test_mem0_by_its_defaults_runs_with_our_model_and_embedder(app: App) -> None:
    reply = '{"memory": [{"text": "User lives in Bergen"}]}'
    llm = ScriptedLLM(reply, context_window=32_000)
    model = ChatModel(llm, name="scripted", context_window=32_000)
    assert unfit(model) is None
    assert model.context_window >= WINDOW
    evaluation = MemoryEvaluation([dialogue("ana-at-mem0")], nobody)
    async with opened_peer(dataclasses.replace(app.services, model=model)) as peer:
        await evaluation.run([peer])
        current, ever = await peer.kept("ana-at-mem0")
    (system,) = evaluation.systems()
    assert system.name == MEM0
    assert len(llm.calls) == 3
    assert len(llm.calls[0].text) > 20_000
    assert CONTEXT in llm.calls[1].text
    assert current == ever == [Kept("User lives in Bergen", 0)]
    assert [(row.right, row.kept, row.recalled) for row in system.rows] == [(1, 1, 1)]
