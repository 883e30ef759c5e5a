"""Whole turns that go as they should."""

import pytest

from condensery.testing import RecordingEmbedder, ScriptedLLM
from condensery.tests.app.helpers import OpenApp, events_of, finished, kinds, rows
from condensery.workflows.events import AnswerDelta
from condensery.workflows.turn import Outcome


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


async def test_a_search_that_the_last_turns_lend_to_is_kept_as_such(corpus_app: OpenApp) -> None:
    async with corpus_app() as app:
        first = await app.ask("How much is a ticket for a dog?", conversation_id="c")
        await app.ask("opening hours of the museum", conversation_id="c")
        _, kept = await app.history("c")
    assert (kept.searched_for, kept.lent, first.lent) == (None, True, False)


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
    assert (turn.outcome, turn.reason) == (Outcome.REFUSED, "insufficient_context")


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


async def test_thoughts_never_reach_search_or_answer(corpus_app: OpenApp) -> None:
    llm = ScriptedLLM("<think>a dog…</think>How much is a ticket for a dog?", "<think>hm</think>Six francs [1].")
    async with corpus_app(llm, condense={"engine": "condense_context"}) as app:
        await app.ask("Which tickets are there?", conversation_id="c", engine="simple")
        llm._calls.clear()
        turn = await app.ask("And for a dog?", conversation_id="c")
    assert turn.question == "How much is a ticket for a dog?"
    assert turn.answer == "Six francs [1]."


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
