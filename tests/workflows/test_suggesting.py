"""What is offered to ask next: from the evidence alone, by its sections or by a model."""

import json
from dataclasses import replace
from typing import Any

import pytest

from condensery.app import open_app
from condensery.errors import ProviderError
from condensery.models.chat import ChatModel
from condensery.prompts.loader import prompts_for
from condensery.prompts.locales import LOCALES
from condensery.retrieval.types import Chunk, ScoredChunk
from condensery.settings import Settings
from condensery.testing import Scripted, ScriptedLLM
from condensery.workflows.suggesting import LONGEST, suggestions, usable
from condensery.workflows.turn import Outcome, Turn, TurnKey

ANNUAL = "What does the annual pass cost?"


async def test_sections_that_the_answer_did_not_quote_are_offered_and_can_be_answered(
    corpus_settings: Settings,
) -> None:
    async with open_app(corpus_settings) as app:
        turn = await app.ask(ANNUAL)
        offered = await app.suggest(turn)
        assert offered[0] == "What does “Tickets and tariffs” say about “Refunds”?"
        assert len(offered) == 3
        for question in offered:
            answered = await app.ask(question)
            assert answered.outcome is Outcome.ANSWERED
            assert {each.chunk.title for each in answered.evidence if each.chunk.title in question}


async def test_they_are_in_the_language_of_the_message(corpus_settings: Settings) -> None:
    async with open_app(corpus_settings) as app:
        turn = await app.ask(ANNUAL)
        spoken = turn.model_copy(update={"message": "Und was kostet die Jahreskarte für Kinder?"})
        assert (await app.suggest(spoken))[0] == "Was sagt „Tickets and tariffs“ über „Refunds“?"


@pytest.mark.parametrize("most", [0, 1, 2])
async def test_there_are_as_many_as_the_settings_want(corpus_settings: Settings, most: int) -> None:
    answer = corpus_settings.answer.model_copy(update={"suggestions": most})
    async with open_app(corpus_settings.model_copy(update={"answer": answer})) as app:
        assert len(await app.suggest(await app.ask(ANNUAL))) == most


async def test_nothing_is_offered_after_small_talk_or_a_refusal(corpus_settings: Settings) -> None:
    async with open_app(corpus_settings) as app:
        assert await app.suggest(await app.ask("thanks!")) == []
        turn = await app.ask(ANNUAL)
        assert await app.suggest(turn.model_copy(update={"outcome": Outcome.REFUSED})) == []


async def offered_by(settings: Settings, reply: Scripted) -> tuple[list[str], ScriptedLLM]:
    llm = ScriptedLLM(reply)
    async with open_app(settings) as app:
        turn = await app.ask(ANNUAL)
        services = replace(app.services, model=ChatModel(llm, name="scripted", context_window=4096))
        return await suggestions(turn, services, 3), llm


async def test_a_model_puts_questions_and_those_that_the_evidence_does_not_carry_are_left_out(
    corpus_settings: Settings,
) -> None:
    questions = ["Are unused tickets refunded?", "Who won the world cup in Brazil?", "No question", ANNUAL]
    offered, llm = await offered_by(corpus_settings, json.dumps({"questions": questions}))
    assert offered == ["Are unused tickets refunded?"]
    [call] = llm.calls
    assert ANNUAL in call.text
    assert call.kwargs


@pytest.mark.parametrize("reply", ["nonsense", json.dumps({"questions": []}), ProviderError("away")])
async def test_where_the_model_fails_the_sections_are_offered(corpus_settings: Settings, reply: Scripted) -> None:
    offered, _ = await offered_by(corpus_settings, reply)
    assert offered[0] == "What does “Tickets and tariffs” say about “Refunds”?"


def turn_about(text: str, **changes: Any) -> Turn:
    chunk = ScoredChunk(chunk=Chunk(id="1", text=text, source="a.md"), score=1)
    key = TurnKey(turn_id="t", conversation_id="c")
    return Turn(key=key, message="How much is a ticket?", answer="", outcome=Outcome.ANSWERED, evidence=(chunk,))


def test_what_a_model_suggests_is_one_question_on_one_line_that_was_not_asked() -> None:
    turn = turn_about("Dogs need a ticket for 6 francs. Bicycles travel free.")
    asked = [
        "How much is\na ticket?",
        "Do bicycles travel\n free?",
        "Do bicycles travel free?",
        "Bicycles.",
        f"{'Dogs ' * LONGEST}?",
    ]
    assert usable(asked, turn) == ["Do bicycles travel free?"]


@pytest.mark.parametrize("locale", LOCALES)
def test_a_section_is_asked_for_in_every_locale(locale: str) -> None:
    text = prompts_for(locale).text("suggest.section", title="T", topic="X")
    assert text.endswith("?")
    assert "T" in text
    assert "X" in text
