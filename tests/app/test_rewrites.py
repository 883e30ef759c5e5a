"""Turns whose question a model rewrites: what is stored of them, and what their prompts share."""

from collections.abc import Sequence

import pytest
from llama_index.core.llms import ChatMessage

from condensery.testing import ScriptedLLM
from condensery.tests.app.helpers import OpenApp
from condensery.workflows.turn import FallbackReason

REWRITING = {"engine": "condense_context"}
REWRITE = "How much is a ticket for a dog?"


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", FallbackReason.BLANK),
        ("<think>hmm, what could", FallbackReason.UNFINISHED_THINKING),
        ("How much is it? " * 60, FallbackReason.TOO_LONG),
        ("How much is a dog's ticket to the Eiffel Tower?", FallbackReason.UNGROUNDED),
        ("Was kostet eine Fahrkarte für einen Hund im Winter?", FallbackReason.OTHER_LANGUAGE),
        ("Which tickets are there?", FallbackReason.LOST_WORDS),
        (RuntimeError("no"), FallbackReason.ERROR),
    ],
)
async def test_a_degraded_turn_is_stored_with_its_engine_and_reason_and_no_question(
    corpus_app: OpenApp, reply: str | Exception, reason: FallbackReason
) -> None:
    async with corpus_app(ScriptedLLM(reply), condense=REWRITING, answer={"mode": "extractive"}) as app:
        await app.ask("Which tickets are there?", conversation_id="c")
        await app.ask("And for a dog, how much?", conversation_id="c")
    async with corpus_app() as reopened:
        _, stored = await reopened.history("c")
    assert (stored.engine, stored.fallback, stored.question) == ("condense_context", reason, None)
    assert stored.evidence


async def test_a_first_message_is_searched_as_it_is_without_a_call(corpus_app: OpenApp) -> None:
    llm = ScriptedLLM(REWRITE)
    async with corpus_app(llm, condense=REWRITING, answer={"mode": "extractive"}) as app:
        turn = await app.ask("And for a dog?", conversation_id="c")
    assert (turn.question, turn.fallback, llm.calls) == (None, None, [])


async def test_after_a_turn_the_model_reads_what_the_next_prompts_begin_with(
    corpus_app: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[list[str]] = []

    async def reading(model: object, first: Sequence[ChatMessage], second: Sequence[ChatMessage]) -> None:
        read.append([one for one, other in zip(said(first), said(second), strict=True) if one == other])

    monkeypatch.setattr("condensery.models.chat.ChatModel.read_ahead", reading)
    llm = ScriptedLLM("There are several [1].", REWRITE, "Six francs [1].")
    async with corpus_app(llm, condense=REWRITING) as app:
        await app.ask("Which tickets are there?", conversation_id="c")
        await app._ahead.wait()
        await app.ask("And for a dog?", conversation_id="c")
    rewrite, answer = (said(call.messages) for call in llm.calls[1:3])
    assert read[:2] == [answer[:-1], rewrite[:-1]]
    assert "Which tickets are there?" in answer


def said(messages: Sequence[ChatMessage]) -> list[str]:
    return [message.content or "" for message in messages]


async def test_a_turn_that_outlives_its_app_begins_no_reading(
    corpus_app: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[object] = []

    async def reading(model: object, *given: object) -> None:
        read.append(given)

    monkeypatch.setattr("condensery.models.chat.ChatModel.read_ahead", reading)
    async with corpus_app(ScriptedLLM("There are several [1]."), condense=REWRITING) as app:
        await app._ahead.close()
        await app.ask("Which tickets are there?", conversation_id="c")
        await app._ahead.wait()
    assert read == []


async def test_reading_ahead_can_be_switched_off(corpus_app: OpenApp, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[object] = []
    monkeypatch.setattr("condensery.models.chat.ChatModel.read_ahead", lambda *given: read.append(given))
    llm = ScriptedLLM("There are several [1].")
    async with corpus_app(llm, condense=REWRITING, history={"read_ahead": False}) as app:
        await app.ask("Which tickets are there?", conversation_id="c")
        await app._ahead.wait()
    assert read == []
