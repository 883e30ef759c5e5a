"""What a person says of themselves is there in their next conversation, and nowhere else."""

import asyncio
from contextlib import aclosing

import pytest

from condensery.app import App, open_app
from condensery.memory.types import NewFact, organization_scope
from condensery.prompts.loader import prompts_for
from condensery.settings import Settings
from condensery.testing import ScriptedLLM
from condensery.tests.app.helpers import OpenApp, events_of
from condensery.workflows.events import CondensedQuestion, FactsUsed
from condensery.workflows.turn import Outcome

TOLD = "I live in Oslo and I'm vegetarian. How much is a ticket for a dog?"
NO_FACTS: str = '{"facts": []}'


async def remembered(app: App) -> None:
    """Wait until nothing waits to be remembered."""
    async with asyncio.timeout(120):
        while await app.services.outbox.waiting():  # noqa: ASYNC110
            await asyncio.sleep(0.05)


async def test_a_fact_is_recalled_in_another_conversation_and_answers_what_it_can(corpus_app: OpenApp) -> None:
    async with corpus_app() as app:
        await app.ask(TOLD, conversation_id="one", user_id="ada")
        await remembered(app)
        turn = await app.ask("Where do I live?", conversation_id="two", user_id="ada")
        facts = {fact.text: fact for fact in await app.memory.list("ada")}
        assert set(facts) == {"I live in Oslo.", "I'm vegetarian."}
        assert (turn.answer, turn.evidence) == ("You told me: “I live in Oslo.”", ())
        assert turn.memories == (facts["I live in Oslo."].id,)
        assert facts["I live in Oslo."].conversation_id == "one"
        assert (await app.history("two"))[0].memories == turn.memories


async def test_a_question_about_oneself_is_answered_after_other_questions_too(corpus_app: OpenApp) -> None:
    async with corpus_app() as app:
        await app.ask(TOLD, conversation_id="one", user_id="ada")
        await remembered(app)
        await app.ask("When does the last car come down?", conversation_id="two", user_id="ada")
        turn = await app.ask("Where do I live?", conversation_id="two", user_id="ada")
        assert turn.answer == "You told me: “I live in Oslo.”"


async def test_nobody_else_is_told_and_nobody_is_remembered(corpus_app: OpenApp) -> None:
    async with corpus_app() as app:
        await app.ask(TOLD, user_id="ada")
        await app.ask(TOLD)
        await remembered(app)
        for user_id in ("bob", None):
            turn = await app.ask("Where do I live?", user_id=user_id)
            assert "Oslo" not in turn.answer
            assert turn.memories == ()
        assert await app.memory.list("bob") == []


async def test_a_model_is_told_what_is_known_and_the_turn_knows_which_facts_it_used(corpus_app: OpenApp) -> None:
    model = ScriptedLLM("Take the blue line [1].")
    async with corpus_app(model, memory={"extraction": "rules"}) as app:
        await app.ask(TOLD, user_id="ada")
        await remembered(app)
        events = await events_of(app, "Which dishes are vegetarian?", user_id="ada")
        told = [event for event in events if isinstance(event, FactsUsed)]
        assert [fact.text for event in told for fact in event.facts] == ["I'm vegetarian."]
        prompt = model.calls[-1].text
        assert "- I'm vegetarian." in prompt
        assert "Oslo" not in prompt
        turn = events[-1].turn
        assert turn.memories == tuple(fact.id for event in told for fact in event.facts)


async def test_facts_beyond_the_token_cap_stay_out_of_the_prompt(corpus_app: OpenApp) -> None:
    model = ScriptedLLM("Yes [1].")
    async with corpus_app(model, memory={"extraction": "rules", "max_tokens": 0}) as app:
        await app.ask(TOLD, user_id="ada")
        await remembered(app)
        turn = await app.ask("Which dishes are vegetarian?", user_id="ada")
        assert "- I'm vegetarian." not in model.calls[-1].text
        assert turn.memories == ()
        notes = {record.stage: record.note for record in turn.stages}
        assert notes["enrich_history"] == "1 of 1 facts of the user left out: memory.max_tokens"


async def test_an_organization_s_facts_are_recalled_for_it_alone(corpus_app: OpenApp) -> None:
    model = ScriptedLLM("Yes [1].")
    async with corpus_app(model, memory={"extraction": "rules"}) as app:
        shared = [NewFact(text="Our dogs travel free on company outings.")]
        await app.services.memory.remember(shared, scope=organization_scope("acme"))
        for organization_id, there in (("acme", True), ("other", False), (None, False)):
            await app.ask("Do dogs travel free?", user_id="ada", organization_id=organization_id)
            assert ("company outings" in model.calls[-1].text) is there


@pytest.mark.parametrize("capable", [False, True])
async def test_a_statement_alone_is_acknowledged_and_remembered_with_no_search(
    corpus_app: OpenApp, capable: bool
) -> None:
    model = ScriptedLLM("never asked")
    async with corpus_app(*([model] if capable else []), memory={"extraction": "rules"}) as app:
        turn = await app.ask("I'm allergic to peanuts and I live in Oslo.", user_id="ada")
        assert turn.answer == "I will remember that: I'm allergic to peanuts. I live in Oslo."
        assert (turn.outcome, turn.reason, turn.evidence, model.calls) == (Outcome.SMALL_TALK, None, (), [])
        assert "retrieve" not in {record.stage for record in turn.stages}
        await remembered(app)
        facts = {fact.text for fact in await app.memory.list("ada")}
        assert facts == {"I'm allergic to peanuts.", "I live in Oslo."}


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("I live in Oslo.", "I will remember that: I live in Oslo."),
        ("Ich wohne in Oslo.", "Das merke ich mir: Ich wohne in Oslo."),
        ("J'habite à Oslo.", "Je le retiens : J'habite à Oslo."),
        ("Abito a Oslo.", "Me lo ricorderò: Abito a Oslo."),
    ],
)
async def test_it_is_acknowledged_in_the_language_it_was_said_in_and_that_memory_is_off_is_said(
    corpus_app: OpenApp, said: str, answer: str
) -> None:
    async with corpus_app() as app:
        assert (await app.ask(said, user_id="ada")).answer == answer
        await app.memory.off("bob")
        turn = await app.ask(said, user_id="bob")
        assert turn.outcome is Outcome.SMALL_TALK
        texts = {prompts_for(locale).text("meta.memory_off") for locale in ("en", "de", "fr", "it")}
        assert turn.answer in texts
        await remembered(app)
        assert await app.memory.list("bob") == []


@pytest.mark.parametrize(
    "said",
    ["I live in Oslo. When is the museum open?", "I live in Oslo. Tell me about the museum.", "Open on Mondays."],
)
async def test_a_message_that_asks_for_something_is_searched_for(corpus_app: OpenApp, said: str) -> None:
    async with corpus_app() as app:
        assert (await app.ask(said, user_id="ada")).outcome is not Outcome.SMALL_TALK


async def test_a_statement_of_nobody_is_searched_for(corpus_app: OpenApp) -> None:
    async with corpus_app() as app:
        assert (await app.ask("I live in Oslo.")).outcome is not Outcome.SMALL_TALK


async def test_off_is_off_and_what_is_stored_can_be_seen_and_erased(corpus_app: OpenApp) -> None:
    async with corpus_app() as app:
        await app.ask(TOLD, user_id="ada")
        await remembered(app)
        await app.memory.off("ada")
        turn = await app.ask("I moved to Bergen. Where do I live?", user_id="ada")
        await remembered(app)
        assert turn.memories == ()
        assert {fact.text for fact in await app.memory.list("ada")} == {"I live in Oslo.", "I'm vegetarian."}
        assert (await app.memory.forget("ada", everything=True)).facts == 2
        await app.memory.on("ada")
        assert (await app.ask("Where do I live?", user_id="ada")).memories == ()


async def test_what_waits_is_stored_when_the_app_ends(corpus_settings: Settings) -> None:
    memory = corpus_settings.memory.model_copy(update={"drain_seconds": 60})
    settings = corpus_settings.model_copy(update={"memory": memory})
    async with open_app(settings) as app:
        await app.ask(TOLD, user_id="ada")
    async with open_app(settings) as app:
        assert await app.services.outbox.waiting() == 0
        assert {fact.text for fact in await app.memory.list("ada")} == {"I live in Oslo.", "I'm vegetarian."}


async def test_an_app_that_leaves_it_to_a_worker_stores_nothing_itself(corpus_app: OpenApp) -> None:
    async with corpus_app(memory={"in_process": False}) as app:
        await app.ask(TOLD, user_id="ada")
        assert await app.services.outbox.waiting() == 1
        while await app.write_memory():
            pass
        assert len(await app.memory.list("ada")) == 2


@pytest.mark.parametrize("table", ["memories", "memory_users", "memory_state"])
async def test_a_memory_that_fails_costs_no_answer(corpus_app: OpenApp, table: str) -> None:
    async with corpus_app() as app:
        await app.ask(TOLD, user_id="ada")
        await remembered(app)
        async with app.services.database.transaction() as connection:
            await connection.exec_driver_sql(f"ALTER TABLE {table} RENAME TO lost")
        turn = await app.ask("How much is a ticket for a dog?", user_id="ada")
        assert turn.outcome is Outcome.ANSWERED
        assert "6 francs" in turn.answer
        notes = {record.stage: record for record in turn.stages}
        assert notes["recall_user_memory"].degraded


async def test_what_a_stopped_turn_says_of_the_person_is_remembered(corpus_app: OpenApp) -> None:
    model = ScriptedLLM("Take the blue line [1].", gate=asyncio.Event())
    async with corpus_app(model, memory={"extraction": "rules"}) as app:
        async with aclosing(app.stream(TOLD, user_id="ada")) as events:
            async for event in events:
                if isinstance(event, CondensedQuestion):
                    break
        await remembered(app)
        assert {fact.text for fact in await app.memory.list("ada")} == {"I live in Oslo.", "I'm vegetarian."}


@pytest.mark.parametrize("stopped", [False, True])
async def test_what_is_forgotten_during_the_answer_stays_forgotten(corpus_app: OpenApp, stopped: bool) -> None:
    gate = asyncio.Event()
    model = ScriptedLLM("Take the blue line [1].", gate=gate)
    async with corpus_app(model, memory={"extraction": "rules"}) as app:
        async with aclosing(app.stream(TOLD, user_id="ada")) as events:
            async for event in events:
                if isinstance(event, CondensedQuestion):
                    await app.memory.forget("ada", everything=True)
                    gate.set()
                    if stopped:
                        break
        await remembered(app)
        assert await app.memory.list("ada") == []
        await app.ask("I am allergic to nuts.", user_id="ada")
        await remembered(app)
        assert [fact.text for fact in await app.memory.list("ada")] == ["I am allergic to nuts."]


async def test_what_asks_the_documents_is_answered_from_them_whatever_the_person_said(corpus_app: OpenApp) -> None:
    async with corpus_app() as app:
        await app.ask("I travel with a dog. How much is a ticket?", user_id="ada")
        await remembered(app)
        turn = await app.ask("Can I travel with a dog?", user_id="ada")
        assert turn.citations
        assert "You told me" not in turn.answer
