"""Settings changed while the app runs, by itself and by others."""

import asyncio
from collections.abc import Sequence

import pytest
from llama_index.core.base.llms.types import ChatMessage

from condensery.app import App, open_app
from condensery.errors import ConfigError
from condensery.settings import Settings
from condensery.settings_runtime import Changes
from condensery.storage.settings import SettingsRepository
from condensery.testing import ScriptedLLM
from condensery.tests.app.helpers import OpenApp
from condensery.workflows.turn import Outcome

QUESTION = "What does the annual pass cost?"


async def test_a_change_applies_to_the_next_turn(corpus_settings: Settings) -> None:
    async with open_app(corpus_settings) as app:
        assert (await app.ask(QUESTION)).method == "hybrid"
        await app.set_settings({"retrieval.method": "bm25", "retrieval": {"top_k": 2}})
        turn = await app.ask(QUESTION)
        assert (turn.method, len(turn.evidence)) == ("bm25", 2)
        assert (await app.ask(QUESTION, method="semantic")).method == "semantic"
        await app.reset_settings("retrieval.method")
        assert (await app.ask(QUESTION)).method == "hybrid"
        assert app.settings.retrieval.top_k == 2


async def test_a_change_of_another_process_applies_to_the_next_turn_and_to_the_next_start(
    corpus_settings: Settings,
) -> None:
    async with open_app(corpus_settings) as ours:
        async with open_app(corpus_settings) as theirs:
            await theirs.set_settings({"retrieval.method": "bm25"})
        assert (await ours.ask(QUESTION)).method == "bm25"
        assert ours.settings.sources["retrieval.method"] == "database"
    async with open_app(corpus_settings) as later:
        assert later.settings.retrieval.method == "bm25"


async def test_what_a_program_opens_the_app_with_stands_over_what_is_stored(corpus_settings: Settings) -> None:
    async with open_app(corpus_settings) as app:
        await app.set_settings({"retrieval.method": "bm25"})
    changed = corpus_settings.model_copy(update={"retrieval": type(corpus_settings.retrieval)(method="semantic")})
    async with open_app(changed) as app:
        assert (await app.ask(QUESTION)).method == "semantic"


async def test_a_turn_in_flight_keeps_the_settings_it_began_with(corpus_app: OpenApp) -> None:
    condensing, go_on = asyncio.Event(), asyncio.Event()

    def rewritten(messages: Sequence[ChatMessage]) -> str:
        condensing.set()
        return "What does the annual pass cost for children?"

    llm = ScriptedLLM(rewritten, gate=go_on)
    async with corpus_app(model=llm, answer={"mode": "extractive"}) as app:
        await app.ask(QUESTION, conversation_id="c")
        slow = asyncio.create_task(app.ask("And for children?", conversation_id="c", engine="condense_context"))
        await condensing.wait()
        await app.set_settings({"retrieval.method": "bm25", "retrieval.top_k": 1})
        quick = await app.ask(QUESTION)
        assert (quick.method, len(quick.evidence)) == ("bm25", 1)
        go_on.set()
        in_flight = await slow
        assert in_flight.question == "What does the annual pass cost for children?"
        assert (in_flight.method, len(in_flight.evidence)) == ("hybrid", 5)


async def test_the_lexical_index_outlives_a_change(corpus_settings: Settings) -> None:
    async with open_app(corpus_settings) as app:
        index = await app.services.retrieval.bm25.current()
        await app.set_settings({"retrieval.top_k": 3})
        assert await app.services.retrieval.bm25.current() is index
        assert app.services.retrieval.settings.top_k == 3


async def test_a_refused_change_changes_nothing_and_says_why(corpus_settings: Settings) -> None:
    async with open_app(corpus_settings) as app:
        agent = app.agent
        with pytest.raises(ConfigError, match=r"retrieval\.candidates must be at least retrieval\.top_k"):
            await app.set_settings({"retrieval.top_k": 40, "answer.max_quotes": 1})
        with pytest.raises(ConfigError, match="it decides which database is opened"):
            await app.set_settings({"data_dir": "elsewhere"})
        await app.refresh()
        assert app.agent is agent


async def test_the_time_limit_of_a_turn_can_be_changed(corpus_app: OpenApp) -> None:
    async with corpus_app(model=ScriptedLLM("Slowly. " * 500, delay_seconds=0.05), answer={"mode": "generated"}) as app:
        await app.set_settings({"limits.turn_seconds": 1})
        turn = await app.ask(QUESTION)
        assert turn.reason == "timed_out"


async def test_a_turn_that_is_stopped_while_the_settings_are_read_is_kept(
    corpus_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_app(corpus_settings) as app:
        reading = asyncio.Event()

        async def never(app: App) -> Settings:
            reading.set()
            await asyncio.Event().wait()
            raise AssertionError

        monkeypatch.setattr(App, "refresh", never)
        task = asyncio.create_task(app.ask(QUESTION, conversation_id="c"))
        await reading.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        (turn,) = await app.history("c")
        assert (turn.message, turn.outcome) == (QUESTION, Outcome.STOPPED)


async def test_a_method_whose_model_is_not_here_is_refused_before_it_is_stored(corpus_settings: Settings) -> None:
    async with open_app(corpus_settings) as app:
        with pytest.raises(ConfigError, match=r"(?s)nothing was changed:.*rerank\.model"):
            await app.set_settings({"retrieval.method": "reranked", "retrieval.top_k": 3})
        assert (await SettingsRepository(app.services.database).load()).values == {}


async def test_what_another_machine_stored_and_this_one_cannot_meet_is_left_alone_with_a_warning(
    corpus_settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_app(corpus_settings) as app:
        stored = Changes({"retrieval.method": "reranked/bm25", "retrieval.top_k": 3})
        await SettingsRepository(app.services.database).change(lambda _: stored)
        turn = await app.ask(QUESTION)
        assert (turn.method, len(turn.evidence)) == ("hybrid", 5)
        assert "cannot be met here" in caplog.text
        await app.set_settings({"retrieval.method": "bm25"})
        turn = await app.ask(QUESTION)
        assert (turn.method, len(turn.evidence)) == ("bm25", 3)
        await SettingsRepository(app.services.database).change(lambda _: stored)
    caplog.clear()
    async with open_app(corpus_settings) as app:
        assert app.settings.retrieval.method == "hybrid"
        assert "cannot be met here" in caplog.text
