"""A row of the outbox on its way into the memory: two transactions, and every way it can go wrong."""

from datetime import UTC, datetime, timedelta

import pytest

from condensery.errors import ProviderError
from condensery.memory.extraction import MalformedExtraction
from condensery.memory.types import NewFact
from condensery.settings import Memory
from condensery.storage.database import Database
from condensery.tests.memory.written import ADA, Writing


@pytest.fixture
async def writing(database: Database) -> Writing:
    return Writing(database, Memory(attempts=3, retry_seconds=0.001, days=30))


async def test_facts_are_found_first_and_stored_when_the_row_is_taken_again(writing: Writing) -> None:
    await writing.say("t")
    assert await writing.writer.write_next()
    assert (await writing.facts(), await writing.outbox.waiting()) == ([], 1)
    assert await writing.writer.write_next()
    assert (await writing.facts(), await writing.outbox.waiting()) == (["I live in Oslo."], 0)
    assert not await writing.writer.write_next()
    assert writing.asked == [("q", "a")]


async def test_a_fact_knows_its_turn_conversation_time_and_end(writing: Writing) -> None:
    await writing.say("t", at=datetime(2026, 3, 1, tzinfo=UTC))
    await writing.write()
    fact = (await writing.memory.list(scope=ADA))[0]
    assert (fact.turn_id, fact.conversation_id, fact.said_at) == ("t", "c", datetime(2026, 3, 1, tzinfo=UTC))
    assert fact.expires_on == (datetime.now(UTC) + timedelta(days=30)).date()


async def test_a_turn_without_facts_is_done_at_once(writing: Writing) -> None:
    writing.found = []
    await writing.say("t")
    assert await writing.writer.write_next()
    assert await writing.outbox.waiting() == 0


@pytest.mark.parametrize("stored_first", [False, True], ids=["before facts are found", "before they are stored"])
async def test_who_switches_off_or_erases_meanwhile_is_not_remembered(writing: Writing, stored_first: bool) -> None:
    await writing.say("off")
    if stored_first:
        await writing.writer.write_next()
    await writing.users.switch("ada", False)
    await writing.write()
    await writing.users.switch("ada", True)
    await writing.say("erased")
    if stored_first:
        await writing.writer.write_next()
    await writing.users.mark_forgotten("ada")
    await writing.write()
    assert (await writing.facts(), await writing.outbox.waiting()) == ([], 0)


async def test_a_provider_that_fails_is_asked_again_and_then_the_turn_is_parked(writing: Writing) -> None:
    writing.found = ProviderError("the model is out of reach")
    await writing.say("t")
    while await writing.outbox.waiting():
        await writing.writer.write_next()
    parked = (await writing.outbox.parked("ada"))[0]
    assert (parked.attempts, parked.last_error) == (3, "the model is out of reach")
    writing.found = [NewFact(text="I live in Oslo.")]
    assert await writing.outbox.retry(user_id="ada") == 1
    await writing.write()
    assert await writing.facts() == ["I live in Oslo."]


async def test_malformed_facts_are_parked_at_once_and_lost_in_no_case(writing: Writing) -> None:
    writing.found = MalformedExtraction("no list of facts, twice")
    await writing.say("t")
    await writing.writer.write_next()
    parked = (await writing.outbox.parked("ada"))[0]
    assert (parked.payload["question"], parked.last_error) == ("q", "no list of facts, twice")


async def test_what_a_library_says_is_kept_out_of_the_row(writing: Writing) -> None:
    writing.found = RuntimeError("I live in Oslo")
    await writing.say("t")
    while await writing.outbox.waiting():
        await writing.writer.write_next()
    assert (await writing.outbox.parked("ada"))[0].last_error == "storing failed (RuntimeError)"


async def test_a_turn_of_nobody_is_dropped(writing: Writing) -> None:
    await writing.say("t", user_id=None)
    await writing.write()
    assert (writing.asked, await writing.outbox.waiting()) == ([], 0)
