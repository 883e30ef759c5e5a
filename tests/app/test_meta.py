"""Questions about the assistant itself: answered from what is there, with no search, no model and nothing kept."""

import dataclasses

import pytest

from condensery.app import App, open_app
from condensery.errors import ProviderError
from condensery.memory.types import Fact, MemoryScope, NewFact, user_scope
from condensery.prompts.loader import prompts_for
from condensery.settings import Settings
from condensery.testing import InMemoryMemory, RecordingEmbedder, ScriptedLLM
from condensery.tests.app.helpers import OpenApp, events_of, finished, kinds, rows
from condensery.workflows.turn import Outcome

ABOUT_ME = {
    "en": "What do you remember about me?",
    "de": "Was weißt du über mich?",
    "fr": "Que sais-tu de moi ?",
    "it": "Che cosa sai di me?",
}


async def know(app: App, user_id: str, *texts: str) -> None:
    """Let the memory hold facts of a user."""
    await app.services.memory.remember([NewFact(text=text) for text in texts], scope=user_scope(user_id))


@pytest.mark.parametrize("locale", ABOUT_ME)
async def test_a_person_is_told_what_is_remembered_about_them_in_their_language(
    corpus_app: OpenApp, locale: str
) -> None:
    async with corpus_app() as app:
        await know(app, "ada", "I live in Oslo.")
        await know(app, "bob", "I live in Rome.")
        turn = await app.ask(ABOUT_ME[locale], user_id="ada")
    assert turn.outcome is Outcome.META
    assert turn.answer.startswith(prompts_for(locale).text("meta.memory"))
    assert "- I live in Oslo." in turn.answer
    assert "Rome" not in turn.answer
    assert "--user ada" in turn.answer


async def test_it_takes_no_search_and_no_model_and_nothing_is_remembered_of_it(corpus_app: OpenApp) -> None:
    model, embedder = ScriptedLLM("never asked"), RecordingEmbedder()
    async with corpus_app(model, embedder=embedder) as app:
        await know(app, "ada", "I live in Oslo.")
        for message in (*ABOUT_ME.values(), "What can you do?", "Which documents do you know?"):
            events = await events_of(app, message, user_id="ada")
            assert kinds(events) == ["AnswerDelta", "TurnFinished"]
            assert {record.stage for record in finished(events).stages} <= {"gate", "limit_history", "answer_meta"}
        assert await rows(app, "SELECT * FROM outbox") == []
    assert (model.calls, embedder.texts) == ([], [])


async def test_nobody_is_told_nothing_and_a_stranger_that_there_is_nothing(corpus_app: OpenApp) -> None:
    texts = prompts_for("en").text
    async with corpus_app() as app:
        await know(app, "ada", "I live in Oslo.")
        assert (await app.ask(ABOUT_ME["en"])).answer == texts("meta.memory_of_nobody")
        assert (await app.ask(ABOUT_ME["en"], user_id="bob")).answer == texts("meta.memory_none")


async def test_memory_that_is_off_says_so_and_still_shows_what_is_stored(corpus_app: OpenApp) -> None:
    off = prompts_for("de").text("meta.memory_off")
    async with corpus_app() as app:
        await know(app, "ada", "Ich wohne in Oslo.")
        await app.memory.off("ada")
        answer = (await app.ask(ABOUT_ME["de"], user_id="ada")).answer
        assert off in answer
        assert "- Ich wohne in Oslo." in answer
        await app.memory.forget("ada", everything=True)
        assert "Oslo" not in (await app.ask(ABOUT_ME["de"], user_id="ada")).answer
    async with corpus_app(memory={"enabled": False}) as app:
        assert (await app.ask(ABOUT_ME["de"], user_id="bob")).answer.startswith(off)


class _Failing(InMemoryMemory):
    async def list(self, *, scope: MemoryScope, history: bool = False) -> list[Fact]:
        raise ProviderError("the database is away")


async def test_a_memory_that_cannot_be_looked_into_is_said_to_be_so(corpus_app: OpenApp) -> None:
    async with corpus_app() as app:
        failing = App(dataclasses.replace(app.services, memory=_Failing()))
        turn = await failing.ask(ABOUT_ME["en"], user_id="ada")
        able = await failing.ask("What can you do?", user_id="ada")
        await failing.close()
    assert turn.answer == prompts_for("en").text("meta.memory_failed")
    assert [record.stage for record in turn.stages if record.degraded] == ["answer_meta"]
    assert "17 documents" in able.answer


async def test_what_it_can_do_follows_its_settings_and_its_documents(corpus_app: OpenApp) -> None:
    texts = prompts_for("en").text
    async with corpus_app() as quoting:
        answer = (await quoting.ask("What can you do?", user_id="ada")).answer
        assert "17 documents" in answer
        assert "hybrid" in answer
        assert texts("meta.can_quote") in answer
        assert texts("meta.can_follow_up") in answer
        assert texts("meta.can_remember") in answer
        plain = (await quoting.ask("What can you do?", engine="simple", method="bm25")).answer
        assert "bm25" in plain
        assert texts("meta.can_follow_up") not in plain
        assert texts("meta.can_remember") not in plain
        nowhere = (await quoting.ask("What can you do?", namespaces=["elsewhere"])).answer
        assert texts("meta.no_documents") in nowhere
        assert texts("meta.can_quote") not in nowhere
    async with corpus_app(ScriptedLLM("x"), memory={"enabled": False}) as writing:
        answer = (await writing.ask("Was kannst du?", user_id="ada")).answer
    assert prompts_for("de").text("meta.can_write") in answer
    assert prompts_for("de").text("meta.can_not_remember") in answer


async def test_it_knows_the_documents_that_a_search_of_the_turn_may_find(corpus_app: OpenApp) -> None:
    async with corpus_app() as app:
        every = await app.ask("Which documents do you know?")
        one = await app.ask("Quali documenti conosci?", filters={"source": "no-such-file.md"})
    assert every.answer.startswith("I know 17 documents: ")
    assert one.answer == prompts_for("it").text("meta.no_documents")


async def test_without_documents_it_says_how_to_add_some(settings: Settings) -> None:
    async with open_app(settings) as app:
        answer = (await app.ask("What can you do?", user_id="ada")).answer
    assert "condensery ingest" in answer
    assert prompts_for("en").text("meta.can_remember") in answer
