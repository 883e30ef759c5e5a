"""The guard behind the search in whole turns: refusals that name what is missing, reservations, hops, fallbacks."""

import json
from typing import Any

import pytest

from condensery.errors import ProviderError
from condensery.prompts.loader import prompts_for
from condensery.retrieval.types import Scope, ScoredChunk, SearchQuery
from condensery.testing import ScriptedLLM
from condensery.tests.app.helpers import OpenApp, events_of, finished, kinds, notes
from condensery.workflows.turn import Outcome

KNOWN = "How much is a ticket for a dog?"
UNKNOWN = "Does the hotel have a swimming pool?"
TWO = "What does a dog cost on the railway, and until when can I cancel my booking at the hotel free of charge?"
JUDGE = {"method": "llm"}


def verdict(sufficient: bool = False, missing: str = "", next_query: str = "") -> str:
    return json.dumps({"sufficient": sufficient, "missing": missing, "next_query": next_query})


def note(turn: Any) -> str:
    return " | ".join(each.note or "" for each in turn.stages if each.stage == "judge_context")


async def test_a_question_the_documents_answer_is_answered_without_a_reservation(corpus_app: OpenApp) -> None:
    async with corpus_app() as app:
        turn = await app.ask(KNOWN)
    assert (turn.outcome, turn.doubtful, note(turn)) == (Outcome.ANSWERED, False, "")


async def test_a_refusal_names_what_was_not_found_and_shows_what_was(corpus_app: OpenApp) -> None:
    async with corpus_app() as app:
        events = await events_of(app, UNKNOWN)
        stored = (await app.history(finished(events).key.conversation_id))[-1]
    turn = finished(events)
    assert kinds(events) == ["CondensedQuestion", "EvidenceReady", "AnswerDelta", "TurnFinished"]
    assert (turn.outcome, turn.reason) == (Outcome.REFUSED, "insufficient_context")
    assert [citation.chunk_id for citation in turn.citations] == [found.chunk.id for found in turn.evidence[:3]]
    assert "“swimming pool”" in turn.answer
    assert turn.evidence
    assert stored.evidence == turn.evidence


async def test_in_doubt_quotes_are_given_with_a_reservation(corpus_app: OpenApp) -> None:
    async with corpus_app(guard={"sure": 1.0}) as app:
        turn = await app.ask(KNOWN, conversation_id="c")
        follow_up = await app.ask("And in the hotel?", conversation_id="c")
    assert turn.outcome is Outcome.ANSWERED
    assert turn.doubtful
    assert turn.answer.startswith(prompts_for("en").text("guard.doubtful"))
    assert turn.citations
    assert "not sure" not in (follow_up.searched_for or "")


async def test_a_model_that_answers_is_warned_and_not_cut_off(corpus_app: OpenApp) -> None:
    llm = ScriptedLLM("The sources say nothing about a pool.")
    async with corpus_app(llm, answer={"mode": "generated"}) as app:
        turn = await app.ask(UNKNOWN)
        warned = str(llm.calls[0].messages[-1].content)
        await app.ask(KNOWN)
    caution = prompts_for("en").text("guard.caution")
    assert turn.outcome is Outcome.ANSWERED
    assert caution in warned
    assert caution not in str(llm.calls[-1].messages[-1].content)


@pytest.mark.parametrize("guard", [{"enabled": False}, {"method": "none"}])
async def test_switched_off_nothing_is_judged_and_nothing_searched_twice(
    corpus_app: OpenApp, guard: dict[str, Any]
) -> None:
    async with corpus_app(guard=guard) as app:
        turns = [await app.ask(UNKNOWN), await app.ask(TWO)]
    assert all(note(turn).startswith("not judged") for turn in turns)
    assert all(sum(each.stage == "retrieve" for each in turn.stages) == 1 for turn in turns)
    assert turns[0].reason != "insufficient_context"


async def test_the_second_thing_that_is_asked_is_searched_for_by_itself(corpus_app: OpenApp) -> None:
    async with corpus_app(retrieval={"top_k": 2}) as app:
        turn = await app.ask(TWO)
    found = [each.chunk.id for each in turn.evidence]
    assert {"tariffs.md", "hotel-guest-guide.md"} <= {each.chunk.source for each in turn.evidence}
    assert len(found) == len(set(found))


async def test_a_part_of_a_follow_up_is_not_searched_for_by_itself(corpus_app: OpenApp) -> None:
    async with corpus_app() as app:
        await app.ask(KNOWN, conversation_id="c")
        turn = await app.ask("And for a guide dog, and on which days?", conversation_id="c")
    assert sum(each.stage == "retrieve" for each in turn.stages) == 1


async def test_a_later_search_that_fails_leaves_what_was_found(
    corpus_app: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with corpus_app(guard={"max_hops": 2}) as app:
        retriever = app.services.retriever("hybrid")
        searches = 0

        class Failing:
            async def search(self, query: SearchQuery, *, scope: Scope, limit: int) -> list[ScoredChunk]:
                nonlocal searches
                searches += 1
                if searches > 1:
                    raise ProviderError("the index is away")
                return await retriever.search(query, scope=scope, limit=2)

        monkeypatch.setattr(type(app.services), "retriever", lambda self, name: Failing())
        turn = await app.ask(TWO)
    assert searches == 2
    assert turn.evidence
    assert "search 2 left out: the index is away" in " ".join(notes(turn).values())


async def test_a_model_judges_when_it_is_chosen_and_what_it_asks_for_is_searched(corpus_app: OpenApp) -> None:
    llm = ScriptedLLM(verdict(missing="a pool", next_query="bathing at the hotel"), verdict(missing="a pool"))
    async with corpus_app(llm, guard=JUDGE, answer={"mode": "extractive"}) as app:
        turn = await app.ask(UNKNOWN)
    assert len(llm.calls) == 2
    assert sum(each.stage == "retrieve" for each in turn.stages) == 2
    assert (turn.reason, "“a pool”" in turn.answer) == ("insufficient_context", True)


async def test_a_hop_that_asks_for_the_same_again_is_not_made(corpus_app: OpenApp) -> None:
    llm = ScriptedLLM(verdict(missing="a pool", next_query="Swimming pool: does the hotel have it?"))
    async with corpus_app(llm, guard=JUDGE, answer={"mode": "extractive"}) as app:
        turn = await app.ask(UNKNOWN)
    assert len(llm.calls) == 1
    assert turn.reason == "insufficient_context"


@pytest.mark.parametrize("reply", ["I think so", ProviderError("the endpoint is away"), RuntimeError("a library")])
async def test_a_judge_that_fails_accepts_with_the_reason(corpus_app: OpenApp, reply: Any) -> None:
    async with corpus_app(ScriptedLLM(reply), guard=JUDGE, answer={"mode": "extractive"}) as app:
        turn = await app.ask(KNOWN)
    assert turn.outcome is Outcome.ANSWERED
    assert "accepted unjudged" in notes(turn)["judge_context"]
    assert "a library" not in note(turn)


async def test_a_judge_that_takes_too_long_accepts_with_the_reason(corpus_app: OpenApp) -> None:
    slow = ScriptedLLM(verdict(), delay_seconds=5)
    async with corpus_app(slow, guard=JUDGE | {"seconds": 0.05}, answer={"mode": "extractive"}) as app:
        turn = await app.ask(KNOWN)
    assert turn.outcome is Outcome.ANSWERED
    assert "guard.seconds" in notes(turn)["judge_context"]


async def test_a_question_in_another_language_than_the_documents_is_not_judged_by_its_words(
    corpus_app: OpenApp,
) -> None:
    async with corpus_app() as app:
        turn = await app.ask("Wie viele Zimmer hat das Hotel, und wann wurden sie zuletzt renoviert?")
    assert turn.reason != "insufficient_context"


async def test_the_settings_of_the_guard_can_be_changed_while_it_runs(corpus_app: OpenApp) -> None:
    async with corpus_app() as app:
        await app.set_settings({"guard.enabled": False, "guard.max_hops": 1})
        assert note(await app.ask(UNKNOWN)) == "not judged: switched off"
