"""Turns that are refused, fail, are stopped, or come in crowds."""

import asyncio
from contextlib import aclosing

import pytest

from condensery.errors import ConfigError, ProviderError, UnknownName
from condensery.testing import RecordingEmbedder, ScriptedLLM
from condensery.tests.app.helpers import BreaksOff, OpenApp, events_of, finished, kinds, rows
from condensery.workflows.events import AnswerDelta
from condensery.workflows.turn import FallbackReason, Outcome


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


async def test_unfinished_thinking_falls_back_to_the_message(corpus_app: OpenApp) -> None:
    async with corpus_app(ScriptedLLM("<think>hmm, what could"), condense={"engine": "condense_context"}) as app:
        await app.ask("Which tickets are there?", conversation_id="c", engine="simple")
        turn = await app.ask("How much is a ticket for a dog?", conversation_id="c")
    assert turn.fallback is FallbackReason.UNFINISHED_THINKING
    assert (turn.engine, turn.question) == ("condense_context", None)
    assert turn.evidence


async def test_a_step_that_raises_ends_in_a_sentence_and_the_next_message_works(
    corpus_app: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with corpus_app() as app:
        with monkeypatch.context() as patch:
            patch.setattr(type(app.services), "retriever", broken)
            patch.setattr("condensery.app.check", lambda services, options: None)
            events = await events_of(app, "How much is a ticket for a dog?", conversation_id="c")
        turn = finished(events)
        assert turn.outcome is Outcome.FAILED
        assert "went wrong" in turn.answer
        assert "secret" not in turn.answer
        assert (await app.ask("How much is a ticket for a dog?", conversation_id="c")).outcome is Outcome.ANSWERED
        assert [kept.outcome for kept in await app.history("c")] == [Outcome.FAILED, Outcome.ANSWERED]


@pytest.mark.parametrize("ended", ["stopped", "failed"])
async def test_a_turn_that_ends_early_is_stored_with_all_that_was_reached(corpus_app: OpenApp, ended: str) -> None:
    rewrite, answer = "How much is the annual pass for children?", "It costs much [1]. " * 9
    llm = BreaksOff("It costs 310 francs [1].", rewrite, answer, whole=1 if ended == "failed" else 2)
    async with corpus_app(llm, condense={"engine": "condense_context"}, answer={"mode": "generated"}) as app:
        await app.ask("What does the annual pass cost?", conversation_id="c", engine="simple", method="bm25")
        async with aclosing(app.stream("And for children?", conversation_id="c", method="semantic")) as stream:
            async for event in stream:
                if ended == "stopped" and isinstance(event, AnswerDelta):
                    break
        turn = (await app.history("c"))[1]
    assert turn.outcome is (Outcome.STOPPED if ended == "stopped" else Outcome.FAILED)
    assert (turn.engine, turn.question) == ("condense_context", "How much is the annual pass for children?")
    assert (turn.method, turn.answer_mode, turn.fallback) == ("semantic", "generated", None)
    assert turn.evidence


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
    assert (stopped.engine, stopped.question, stopped.method) == ("expand_context", None, "hybrid")
    assert stopped.answer_mode == "generated"
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
        with pytest.raises(UnknownName, match="no chat engine ''"):
            await app.ask("x", engine="")
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


async def test_closing_the_stream_late_does_not_undo_a_finished_turn(corpus_app: OpenApp) -> None:
    async with corpus_app() as app:
        async with aclosing(app.stream("How much is a ticket for a dog?", conversation_id="c")) as stream:
            await anext(stream)
            async with asyncio.timeout(60):
                while not await rows(app, "SELECT 1 FROM turns"):  # noqa: ASYNC110 - another connection writes it
                    await asyncio.sleep(0.01)
        (kept,) = await app.history("c")
    assert kept.outcome is Outcome.ANSWERED
    assert kept.citations


async def test_a_turn_stopped_twice_is_stored_before_the_app_closes(corpus_app: OpenApp) -> None:
    llm = ScriptedLLM("x" * 300, delay_seconds=0.05)
    async with corpus_app(llm) as app:
        started = asyncio.Event()

        async def listen() -> None:
            async for event in app.stream("How much is a ticket for a dog?", conversation_id="c"):
                if isinstance(event, AnswerDelta):
                    started.set()

        listening = asyncio.create_task(listen())
        await started.wait()
        listening.cancel()
        await asyncio.sleep(0)
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)
        await app.close()
        assert [turn.outcome for turn in await app.history("c")] == [Outcome.STOPPED]


async def test_a_turn_that_cannot_be_stored_is_answered_with_a_sentence(
    corpus_app: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with corpus_app() as app:
        monkeypatch.setattr(app.services.turns, "save", no_database)
        events = await events_of(app, "How much is a ticket for a dog?")
        monkeypatch.setattr(app.services.turns, "history", no_database)
        without_history = await events_of(app, "How much is a ticket for a dog?")
    assert finished(events).outcome is Outcome.FAILED
    assert "went wrong" in finished(events).answer
    assert finished(without_history).outcome is Outcome.FAILED


async def test_the_log_of_a_failure_does_not_quote_the_message(
    corpus_app: OpenApp, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    words = "words-of-the-person"

    def fail(*args: object, **kwargs: object) -> None:
        raise RuntimeError(words)

    async with corpus_app() as app:
        monkeypatch.setattr(app.services.turns, "save", fail)
        with caplog.at_level("INFO"):
            await events_of(app, f"How much is a ticket for a {words} dog?")
    assert "RuntimeError" in caplog.text
    assert words not in caplog.text


async def test_a_filter_key_that_is_no_name_is_the_callers_error(corpus_app: OpenApp) -> None:
    async with corpus_app() as app:
        with pytest.raises(ConfigError):
            await app.ask("How much is a ticket for a dog?", filters={"bad key": "x"})


@pytest.mark.parametrize("reply", ["", "<think>hmm", "[99]"])
async def test_a_model_that_writes_nothing_is_named_and_the_answer_quoted(corpus_app: OpenApp, reply: str) -> None:
    async with corpus_app(ScriptedLLM(reply)) as app:
        events = await events_of(app, "How much is a ticket for a dog?")
    assert kinds(events) == ["CondensedQuestion", "EvidenceReady", "AnswerDelta", "TurnFinished"]
    assert finished(events).answer_mode == "extractive"
    assert any("quoted instead of generated" in (record.note or "") for record in finished(events).stages)


def broken(*args: object) -> None:
    raise RuntimeError("secret library detail")


async def no_database(*args: object, **kwargs: object) -> None:
    raise ProviderError("the database is down")
