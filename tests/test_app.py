"""Whole turns through the real database, the real embedding model and the example corpus."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from typing import Any

import pytest

from condensery.app import App, open_app
from condensery.errors import ProviderError, UnknownName
from condensery.models.chat import ChatModel
from condensery.settings import Settings
from condensery.testing import RecordingEmbedder, ScriptedLLM
from condensery.workflows.events import (
    AnswerDelta,
    StageFinished,
    TurnEvent,
    TurnFinished,
)
from condensery.workflows.turn import FallbackReason, Outcome, Turn

OpenApp = Callable[..., AbstractAsyncContextManager[App]]


@pytest.fixture
def corpus_app(corpus_settings: Settings) -> OpenApp:
    """Opens the app over the ingested examples; sections given as dicts change settings, `model` scripts a model."""

    @asynccontextmanager
    async def opened(model: ScriptedLLM | None = None, embedder: Any = None, **sections: Any) -> AsyncIterator[App]:
        changed = {name: getattr(corpus_settings, name).model_copy(update=values) for name, values in sections.items()}
        async with open_app(corpus_settings.model_copy(update=changed)) as app:
            services = app.services
            if model:
                services = dataclasses.replace(services, model=ChatModel(model, name="scripted", context_window=4096))
            if embedder:
                parts = dataclasses.replace(services.retrieval, embedder=embedder)
                services = dataclasses.replace(services, embedder=embedder, retrieval=parts)
            yield App(services)

    return opened


async def events_of(app: App, message: str, **options: Any) -> list[TurnEvent]:
    return [event async for event in app.stream(message, **options)]


def kinds(events: list[TurnEvent]) -> list[str]:
    """The kinds of events in order, repeats folded, stage records left out."""
    names = [type(event).__name__ for event in events if not isinstance(event, StageFinished)]
    return [name for at, name in enumerate(names) if at == 0 or names[at - 1] != name]


def finished(events: list[TurnEvent]) -> Turn:
    assert isinstance(events[-1], TurnFinished)
    return events[-1].turn


async def test_a_follow_up_gets_a_cited_answer(corpus_app: OpenApp) -> None:
    async with corpus_app() as app:
        await app.ask("When does the first car go up on weekdays?", conversation_id="c", user_id="u")
        turn = await app.ask("And on Sundays?", conversation_id="c", user_id="u")
    assert turn.outcome is Outcome.ANSWERED
    assert "08:10" in turn.answer
    assert turn.citations[0].source.endswith("timetable.html")
    assert turn.searched_for is not None
    assert "first car" in turn.searched_for


async def test_the_stream_is_question_evidence_answer_end(corpus_app: OpenApp) -> None:
    expected = ["CondensedQuestion", "EvidenceReady", "AnswerDelta", "TurnFinished"]
    async with corpus_app() as quoted:
        events = await events_of(quoted, "How much is a ticket for a dog?")
        assert kinds(events) == expected
        assert "".join(event.text for event in events if isinstance(event, AnswerDelta)) == finished(events).answer
    async with corpus_app(ScriptedLLM("A dog pays 6 francs [1].")) as generated:
        events = await events_of(generated, "How much is a ticket for a dog?")
        assert kinds(events) == expected
        assert finished(events).answer == "A dog pays 6 francs [1]."


async def test_every_stage_of_the_turn_is_timed(corpus_app: OpenApp) -> None:
    async with corpus_app() as app:
        turn = await app.ask("How much is a ticket for a dog?")
    stages = {record.stage for record in turn.stages}
    assert {"gate", "condense", "hypothesize", "retrieve", "rerank", "judge_context", "compose", "answer"} <= stages
    assert all(record.ms >= 0 for record in turn.stages)


async def test_what_was_searched_for_is_kept_with_the_turn(corpus_app: OpenApp) -> None:
    async with corpus_app() as app:
        await app.ask("When does the first car go up on weekdays?", conversation_id="c")
        asked = await app.ask("And on Sundays?", conversation_id="c")
    async with corpus_app() as reopened:
        first, second = await reopened.history("c")
    assert first.searched_for is None
    assert second == asked
    assert second.evidence[0].trace.arms


@pytest.mark.parametrize("message", ["hi", "thanks!", "👍", "ok", "what can you do?"])
async def test_small_talk_is_answered_without_search_or_memory(corpus_app: OpenApp, message: str) -> None:
    embedder = RecordingEmbedder()
    async with corpus_app(embedder=embedder) as app:
        events = await events_of(app, message)
        outbox = await rows(app, "SELECT * FROM outbox")
    assert kinds(events) == ["AnswerDelta", "TurnFinished"]
    assert finished(events).outcome in {Outcome.SMALL_TALK, Outcome.META}
    assert embedder.texts == []
    assert outbox == []


async def test_a_program_is_not_gated(corpus_app: OpenApp) -> None:
    async with corpus_app() as app:
        assert (await app.ask("thanks", chat=False)).outcome not in {Outcome.SMALL_TALK, Outcome.META}


async def test_nothing_found_is_a_streamed_answer_without_citations(corpus_app: OpenApp) -> None:
    async with corpus_app(ScriptedLLM("never asked")) as app:
        events = await events_of(app, "How much is a ticket for a dog?", filters={"source": "no-such-file.md"})
        elsewhere = await app.ask("How much is a ticket for a dog?", namespaces=["elsewhere"])
    turn = finished(events)
    assert kinds(events) == ["CondensedQuestion", "EvidenceReady", "AnswerDelta", "TurnFinished"]
    assert (turn.outcome, turn.reason, turn.citations, turn.evidence) == (Outcome.REFUSED, "nothing_found", (), ())
    assert elsewhere.reason == "nothing_found"


async def test_a_question_the_documents_do_not_answer_is_not_answered(corpus_app: OpenApp) -> None:
    async with corpus_app() as app:
        turn = await app.ask("Who won the football world cup in 1998?")
    assert turn.reason == "nothing_found"
    assert turn.citations == ()


async def test_braces_reach_the_model_as_they_are(corpus_app: OpenApp) -> None:
    llm = ScriptedLLM("ok [1]")
    odd = 'What does {"a": 1} {question} {{message}} mean for a ticket?'
    async with corpus_app(llm) as app:
        turn = await app.ask(odd)
    assert turn.message == odd
    assert odd in llm.calls[0].text


async def test_a_command_in_a_document_stays_a_source(corpus_app: OpenApp) -> None:
    llm = ScriptedLLM("ok [1]")
    async with corpus_app(llm) as app:
        await app.ask("How much is a ticket for a dog?")
        assert await rows(app, "SELECT * FROM outbox") == []
    roles = [message.role.value for message in llm.calls[0].messages if "francs" in (message.content or "")]
    assert roles == ["user"]


async def test_citations_of_chunks_that_were_not_sent_are_dropped(corpus_app: OpenApp) -> None:
    async with corpus_app(ScriptedLLM("Six francs [1], or so [99].")) as app:
        turn = await app.ask("How much is a ticket for a dog?")
    assert turn.answer == "Six francs [1], or so."
    assert [citation.number for citation in turn.citations] == [1]


async def test_more_chunks_than_the_window_holds_are_trimmed_and_cited_exactly(corpus_app: OpenApp) -> None:
    llm = ScriptedLLM("ok [1]")
    async with corpus_app(llm, retrieval={"top_k": 30, "candidates": 40}) as app:
        turn = await app.ask("How much is a ticket for a dog?")
    sent = llm.calls[0].messages[-1].content or ""
    assert 0 < len(turn.evidence) < 30
    assert f"[{len(turn.evidence)}] " in sent
    assert f"[{len(turn.evidence) + 1}] " not in sent
    assert all(found.chunk.text in sent for found in turn.evidence)


async def test_a_long_log_with_a_question_in_it_is_answered_and_without_one_refused(corpus_app: OpenApp) -> None:
    log = "2026-01-05 12:00 WARN pump 3 pressure low\n" * 200
    embedder = RecordingEmbedder()
    async with corpus_app(embedder=embedder) as app:
        asked = await app.ask(f"{log}\n\nHow much is a ticket for a dog?")
        refused = await app.ask(log)
    assert asked.question == "How much is a ticket for a dog?"
    assert asked.message.startswith("2026-01-05")
    assert (refused.outcome, refused.reason) == (Outcome.REFUSED, "condensation_empty")
    assert set(embedder.texts) == {"How much is a ticket for a dog?"}


async def test_a_message_too_large_for_the_window_is_refused_clearly(corpus_app: OpenApp) -> None:
    llm = ScriptedLLM("ok")
    async with corpus_app(llm, llm={"context_window": 256, "max_output_tokens": 64}) as app:
        app.services.model.context_window = 256  # type: ignore[union-attr]
        turn = await app.ask(f"{'word ' * 500}. How much is a ticket for a dog?")
    assert (turn.outcome, turn.reason) == (Outcome.REFUSED, "input_too_large")
    assert llm.calls == []


async def test_an_endpoint_that_fails_leaves_a_quoted_answer_and_says_so(corpus_app: OpenApp) -> None:
    async with corpus_app(ScriptedLLM(ProviderError("the endpoint is down"))) as app:
        turn = await app.ask("How much is a ticket for a dog?")
    assert turn.answer_mode == "extractive"
    assert "6 francs" in turn.answer
    assert any("endpoint is down" in (record.note or "") for record in turn.stages)


async def test_thoughts_never_reach_search_or_answer(corpus_app: OpenApp) -> None:
    llm = ScriptedLLM("<think>a dog…</think>How much is a ticket for a dog?", "<think>hm</think>Six francs [1].")
    async with corpus_app(llm, condense={"engine": "condense_context"}) as app:
        await app.ask("Which tickets are there?", conversation_id="c", engine="simple")
        llm._calls.clear()
        turn = await app.ask("And for a dog?", conversation_id="c")
    assert turn.question == "How much is a ticket for a dog?"
    assert turn.answer == "Six francs [1]."


async def test_unfinished_thinking_falls_back_to_the_message(corpus_app: OpenApp) -> None:
    async with corpus_app(ScriptedLLM("<think>hmm, what could"), condense={"engine": "condense_context"}) as app:
        await app.ask("Which tickets are there?", conversation_id="c", engine="simple")
        turn = await app.ask("How much is a ticket for a dog?", conversation_id="c")
    assert turn.fallback is FallbackReason.UNFINISHED_THINKING
    assert (turn.engine, turn.question) == ("condense_context", None)
    assert turn.evidence


async def test_condensing_switched_off_makes_no_call(corpus_app: OpenApp) -> None:
    llm = ScriptedLLM("Six francs [1].")
    async with corpus_app(llm, condense={"engine": "condense_context", "enabled": False}) as app:
        await app.ask("Which tickets are there?", conversation_id="c")
        await app.ask("How much is a ticket for a dog?", conversation_id="c")
    assert len(llm.calls) == 2
    assert all("Standalone question" not in call.text for call in llm.calls)


async def test_both_sides_of_the_conversation_reach_the_answer_prompt_after_a_restart(corpus_app: OpenApp) -> None:
    async with corpus_app() as app:
        first = await app.ask("How much is a ticket for a dog?", conversation_id="c")
        second = await app.ask("When does the first car go up on weekdays?", conversation_id="c")
    llm = ScriptedLLM("I said so [1].")
    async with corpus_app(llm) as reopened:
        await reopened.ask("What did you just say about tickets?", conversation_id="c")
    sent = [message.content for message in llm.calls[0].messages]
    assert [first.message, first.answer, second.message, second.answer] == sent[1:5]


async def test_one_users_conversation_is_not_anothers(corpus_app: OpenApp) -> None:
    llm = ScriptedLLM("ok")
    async with corpus_app(llm) as app:
        await app.ask("How much is a ticket for a dog?", conversation_id="c", user_id="ann")
        await app.ask("What was asked before?", conversation_id="c", user_id="ben", chat=False)
    assert "a ticket for a dog" not in " ".join(m.content or "" for m in llm.calls[-1].messages[:-1])


async def test_a_step_that_raises_ends_in_a_sentence_and_the_next_message_works(
    corpus_app: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with corpus_app() as app:
        with monkeypatch.context() as patch:
            patch.setattr(type(app.services), "retriever", broken)
            patch.setattr(app, "_check", lambda options: None)
            events = await events_of(app, "How much is a ticket for a dog?", conversation_id="c")
        turn = finished(events)
        assert turn.outcome is Outcome.FAILED
        assert "went wrong" in turn.answer
        assert "secret" not in turn.answer
        assert (await app.ask("How much is a ticket for a dog?", conversation_id="c")).outcome is Outcome.ANSWERED
        assert [kept.outcome for kept in await app.history("c")] == [Outcome.FAILED, Outcome.ANSWERED]


async def test_a_turn_that_takes_too_long_ends_in_time_and_its_work_stops(corpus_app: OpenApp) -> None:
    llm = ScriptedLLM("x" * 300, delay_seconds=0.2)
    async with corpus_app(llm, limits={"turn_seconds": 3.0}) as app:
        await app.ask("thanks")
        turn = await app.ask("How much is a ticket for a dog?")
        assert (turn.outcome, turn.reason) == (Outcome.REFUSED, "timed_out")
        assert "too long" in turn.answer
        assert turn.answer.startswith("xxx")
        await asyncio.sleep(0.2)
        assert llm.finished == 0


async def test_a_stopped_turn_keeps_what_was_said_and_the_next_one_runs(corpus_app: OpenApp) -> None:
    llm = ScriptedLLM("one two three four five six", "again [1]", piece_chars=4, delay_seconds=0.01)
    async with corpus_app(llm) as app:
        async with aclosing(app.stream("How much is a ticket for a dog?", conversation_id="c")) as stream:
            seen = 0
            async for event in stream:
                seen += isinstance(event, AnswerDelta)
                if seen == 2:
                    break
        assert (await app.ask("How much is a ticket for a dog?", conversation_id="c")).answer == "again [1]"
        stopped = (await app.history("c"))[0]
    assert stopped.outcome is Outcome.STOPPED
    assert "one two three four five six".startswith(stopped.answer)
    assert stopped.answer
    assert llm.finished == 1


async def test_two_people_asking_at_once_are_both_answered_by_the_real_model(corpus_app: OpenApp) -> None:
    async with corpus_app(answer={"mode": "generated"}, llm={"max_output_tokens": 24, "context_window": 2048}) as app:
        ann, ben = await asyncio.gather(
            app.ask("How much is a ticket for a dog?", user_id="ann"),
            app.ask("When does the first car go up on weekdays?", user_id="ben"),
        )
    assert (ann.answer_mode, ben.answer_mode) == ("generated", "generated")
    assert ann.answer
    assert ben.answer
    assert ann.answer != ben.answer


async def test_the_loop_keeps_turning_while_the_real_model_writes(corpus_app: OpenApp) -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0.005)

    async with corpus_app(answer={"mode": "generated"}, llm={"max_output_tokens": 24, "context_window": 2048}) as app:
        ticker = asyncio.create_task(tick())
        deltas_at = [ticks async for event in app.stream("How much is a dog?") if isinstance(event, AnswerDelta)]
        ticker.cancel()
    assert len(deltas_at) > 2
    assert deltas_at[0] < deltas_at[-1]


async def test_unknown_names_list_the_choices(corpus_app: OpenApp) -> None:
    async with corpus_app() as app:
        with pytest.raises(UnknownName, match="condense_context"):
            await app.ask("x", engine="condens")
        with pytest.raises(UnknownName, match="hybrid"):
            await app.ask("x", method="magic")


@pytest.mark.parametrize("message", ["", "  \n", "\u200b"])
async def test_an_empty_message_is_refused_and_nothing_is_searched(corpus_app: OpenApp, message: str) -> None:
    embedder = RecordingEmbedder()
    async with corpus_app(embedder=embedder) as app:
        turn = await app.ask(message)
    assert (turn.outcome, turn.reason) == (Outcome.REFUSED, "condensation_empty")
    assert embedder.texts == []


async def test_many_turns_at_once_share_one_engine(corpus_app: OpenApp) -> None:
    async with corpus_app() as app:
        turns = await asyncio.gather(*(app.ask("How much is a ticket for a dog?") for _ in range(40)))
        connections = await rows(app, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
    assert {turn.outcome for turn in turns} == {Outcome.ANSWERED}
    assert connections[0][0] <= 15


def broken(*args: object) -> None:
    raise RuntimeError("secret library detail")


async def rows(app: App, sql: str) -> list[Any]:
    from sqlalchemy import text

    async with app.services.database.engine.connect() as connection:
        return list(await connection.execute(text(sql)))
