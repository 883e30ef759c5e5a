"""What becomes of a reply: once accepted it is quoted, cited and proposed; anything else ends in clear words."""

import asyncio

import pytest

from condensery.errors import ConfigError
from condensery.experts.control import ExpertControl
from condensery.experts.types import ExpertRequest, NotOpen, RequestState, UnknownRequest
from condensery.prompts.loader import LOCALES, prompts_for
from condensery.tests.app.helpers import rows
from condensery.tests.experts.asking import QUESTION, QUESTIONS, asked, closed, last
from condensery.tests.experts.conftest import OpenExperts
from condensery.workflows.turn import Outcome

REPLY = "It costs 12 francs.\nChildren ride for half."


async def test_a_reply_becomes_the_answer_with_the_expert_cited(expert_app: OpenExperts) -> None:
    async with expert_app() as app:
        request = await asked(app, conversation_id="c", user_id="ada")
        await app.experts.answer(request.id, REPLY, expert="Dr. Weber")
        turn = await last(app, "c")
    assert (turn.outcome, turn.message, turn.key.user_id) == (Outcome.ANSWERED, QUESTION, "ada")
    assert turn.answer.endswith("“It costs 12 francs.” [1]\n\n“Children ride for half.” [1]")
    assert "Dr. Weber" in turn.answer
    (found,) = turn.evidence
    assert (found.chunk.source, found.chunk.text) == ("expert: Dr. Weber", REPLY)
    for citation in turn.citations:
        assert found.chunk.text[citation.start : citation.end] == citation.quote
    assert [record.stage for record in turn.stages] == ["ask_expert", "read_reply"]


async def test_a_run_that_is_over_leaves_nothing_in_the_store(expert_app: OpenExperts) -> None:
    async with expert_app() as app:
        request = await asked(app, conversation_id="c")
        await app.experts.answer(request.id, REPLY)
        for name in ("wf_handlers", "wf_ticks", "wf_events", "workflow_state"):
            assert await rows(app, f"SELECT * FROM condensery_runs.{name}") == []  # noqa: S608


async def test_a_follow_up_knows_what_the_expert_said(expert_app: OpenExperts) -> None:
    async with expert_app() as app:
        request = await asked(app, conversation_id="c")
        await app.experts.answer(request.id, REPLY)
        history = await app.services.turns.history("c", max_turns=5, max_chars=5000)
        assert (history[-1].message, "12 francs" in history[-1].answer) == (QUESTION, True)


async def test_the_reply_waits_to_become_a_fact_of_the_organization(expert_app: OpenExperts) -> None:
    async with expert_app() as app:
        request = await asked(app, conversation_id="c", user_id="ada", organization_id="acme")
        await app.experts.answer(request.id, REPLY, expert="Dr. Weber")
        (proposal,) = await app.memory.proposals("acme")
        assert proposal.text == f"{QUESTION} – It costs 12 francs. Children ride for half."
        assert proposal.proposed_by == "expert: Dr. Weber"
        assert await app.memory.list_organization("acme") == []
        alone = await asked(app, conversation_id="d", user_id="ada")
        await app.experts.answer(alone.id, REPLY, expert="Dr. Weber")
        assert len(await app.memory.proposals("acme")) == 1


async def test_of_two_replies_one_counts_and_the_other_is_told_whose(expert_app: OpenExperts) -> None:
    async with expert_app() as app:
        request = await asked(app, conversation_id="c")
        replies = [app.experts.answer(request.id, f"Reply {n}.", expert=f"Expert {n}") for n in range(4)]
        results = await asyncio.gather(*replies, return_exceptions=True)
        refused = [result for result in results if isinstance(result, NotOpen)]
        assert len(refused) == 3
        turn = await last(app, "c")
        winner = turn.evidence[0].chunk.source.removeprefix("expert: ")
        assert all(f"{winner} has answered it already" in str(error) for error in refused)
        assert [each.outcome for each in await app.history("c")].count(Outcome.ANSWERED) == 1


async def test_a_declined_question_is_told_with_the_reason(expert_app: OpenExperts) -> None:
    async with expert_app() as app:
        request = await asked(app, conversation_id="c")
        await app.experts.decline(request.id, reason="<b>Not</b> my field.", expert="Dr. Weber")
        turn = await last(app, "c")
        with pytest.raises(NotOpen, match="Weber has declined it already"):
            await app.experts.answer(request.id, REPLY)
    assert (turn.outcome, turn.reason) == (Outcome.REFUSED, "expert_declined")
    assert turn.answer == f"{prompts_for('en').text('refusal.expert_declined')}\n\nDr. Weber: “Not my field.”"


@pytest.mark.parametrize("locale", LOCALES)
async def test_a_question_without_a_reply_in_time_is_told_and_a_late_reply_refused(
    expert_app: OpenExperts, locale: str
) -> None:
    async with expert_app() as app:
        request = await asked(app, QUESTIONS[locale], conversation_id="c")
        await _let_pass(app.experts, request)
        with pytest.raises(NotOpen, match=r"no reply came in time.*; the user was told so"):
            await app.experts.answer(request.id, REPLY)
        await app.experts.settle_all()
        await closed(app, request.id)
        turn = await last(app, "c")
    assert (turn.outcome, turn.reason) == (Outcome.REFUSED, "expert_silent")
    assert turn.answer == prompts_for(locale).text("refusal.expert_silent")


async def _let_pass(experts: ExpertControl, request: ExpertRequest) -> None:
    """Let the time of a request be over."""
    async with experts._requests._db.transaction() as connection:
        await connection.exec_driver_sql("UPDATE expert_requests SET expires_at = now() - interval '1 second'")
    assert (await experts.show(request.id)).state is RequestState.EXPIRED


async def test_a_reply_to_nothing_is_refused(expert_app: OpenExperts) -> None:
    async with expert_app() as app:
        with pytest.raises(UnknownRequest, match="no question 'nothing'"):
            await app.experts.answer("nothing", REPLY)
        await app.ask(QUESTION, conversation_id="c")
        offer = await app.experts.offered("c")
        assert offer is not None
        with pytest.raises(NotOpen, match="not consented"):
            await app.experts.answer(offer.id, REPLY)


@pytest.mark.parametrize("reply", ["", " \n\u200b", "<script>alert(1)</script>", "<!-- nothing -->"])
async def test_a_reply_without_text_is_refused_and_the_question_stays_open(expert_app: OpenExperts, reply: str) -> None:
    async with expert_app() as app:
        request = await asked(app, conversation_id="c")
        with pytest.raises(ConfigError, match="holds no text"):
            await app.experts.answer(request.id, reply)
        assert [each.id for each in await app.experts.list()] == [request.id]


async def test_fifty_kilobytes_are_refused_with_the_limit_and_the_question_stays_open(expert_app: OpenExperts) -> None:
    async with expert_app() as app:
        request = await asked(app, conversation_id="c")
        with pytest.raises(ConfigError, match=r"51200 characters; at most 20000 .*experts\.reply_chars"):
            await app.experts.answer(request.id, "x" * 51_200)
        assert [each.id for each in await app.experts.list()] == [request.id]
    async with expert_app(experts={"reply_chars": 60_000}) as app:
        await app.experts.answer(request.id, "Twelve francs. " * 3_400)
        assert len((await last(app, "c")).evidence[0].chunk.text) > 50_000


async def test_a_reply_for_a_conversation_that_was_deleted_goes_nowhere(expert_app: OpenExperts) -> None:
    async with expert_app() as app:
        request = await asked(app, conversation_id="c", organization_id="acme", user_id="ada")
        async with app.services.database.transaction() as connection:
            await connection.exec_driver_sql("DELETE FROM turns")
        assert await app.experts.list() == []
        await app.experts.answer(request.id, REPLY)
        assert await app.history("c") == []
        assert await app.memory.proposals("acme") == []


async def test_consent_can_be_given_by_a_program(expert_app: OpenExperts) -> None:
    async with expert_app() as app:
        await app.ask(QUESTION, conversation_id="c")
        offer = await app.experts.offered("c")
        assert offer is not None
        await app.experts.consent(offer.id)
        assert (await app.experts.show(offer.id)).state is RequestState.SENT
        with pytest.raises(NotOpen, match="consented already"):
            await app.experts.consent(offer.id, given=False)
        await app.ask(QUESTION, conversation_id="d")
        other = await app.experts.offered("d")
        assert other is not None
        await app.experts.consent(other.id, given=False)
        with pytest.raises(NotOpen, match="does not want"):
            await app.experts.answer(other.id, REPLY)
