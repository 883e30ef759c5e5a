"""A row of the outbox on its way into the memory: two transactions, and every way it can go wrong."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

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
    said_at = datetime.now(UTC) - timedelta(days=10)
    await writing.say("t", at=said_at)
    await writing.write()
    fact = (await writing.memory.list(scope=ADA))[0]
    assert (fact.turn_id, fact.conversation_id, fact.said_at) == ("t", "c", said_at)
    assert fact.expires_on == (said_at + timedelta(days=30)).date()


async def test_what_waited_for_longer_than_facts_hold_is_not_stored(writing: Writing) -> None:
    await writing.say("t", at=datetime.now(UTC) - timedelta(days=32))
    await writing.write()
    assert (await writing.memory.list(scope=ADA, history=True), await writing.outbox.waiting()) == ([], 0)


async def test_a_writer_with_nothing_to_do_erases_what_is_over(writing: Writing) -> None:
    over = datetime.now(UTC).date() - timedelta(days=1)
    facts = [
        NewFact(text="I have a cold.", expires_on=over),
        NewFact(text="I am tall.", expires_on=over + timedelta(1)),
    ]
    await writing.memory.remember(facts, scope=ADA)
    assert not await writing.writer.write_next()
    assert [fact.text for fact in await writing.memory.list(scope=ADA, history=True)] == ["I am tall."]


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


@pytest.mark.parametrize(
    "error", [MalformedExtraction("no list"), ProviderError("out of reach")], ids=["last", "first"]
)
@pytest.mark.parametrize("how", ["forget", "off"])
async def test_a_row_that_fails_after_it_was_forgotten_is_gone(
    writing: Writing, monkeypatch: pytest.MonkeyPatch, error: Exception, how: str
) -> None:
    async def find(question: str, answer: str) -> list[NewFact]:
        if how == "off":
            await writing.users.switch("ada", False)
        else:
            await writing.users.mark_forgotten("ada")
            await writing.outbox.drop("ada")
        raise error

    monkeypatch.setattr(writing, "find", find)
    await writing.say("t")
    assert await writing.writer.write_next()
    assert await writing.outbox.of_user("ada") == []


@pytest.mark.parametrize("error", [MalformedExtraction("no list"), ProviderError("out of reach")])
async def test_what_rules_find_is_stored_though_the_model_fails(writing: Writing, error: Exception) -> None:
    writing.found = error
    writing.ruled = [NewFact(text="I live in Oslo.", slot="home")]
    await writing.say("t")
    while await writing.outbox.waiting():
        await writing.writer.write_next()
    assert await writing.facts() == ["I live in Oslo."]
    assert (await writing.outbox.parked("ada"))[0].last_error == str(error)
    writing.found = [*writing.ruled, NewFact(text="My dog is called Rex.")]
    await writing.outbox.retry(user_id="ada")
    await writing.write()
    assert sorted(await writing.facts()) == ["I live in Oslo.", "My dog is called Rex."]


async def test_a_conversation_can_be_deleted_while_a_model_is_asked(
    writing: Writing, monkeypatch: pytest.MonkeyPatch, database: Database
) -> None:
    async def find(question: str, answer: str) -> list[NewFact]:
        async with database.transaction() as connection:
            await connection.execute(text("SET LOCAL lock_timeout = '2s'"))
            await connection.execute(text("DELETE FROM turns"))
        return [NewFact(text="I live in Oslo.")]

    monkeypatch.setattr(writing, "find", find)
    await writing.say("t")
    await writing.write()
    assert (await writing.facts(), await writing.outbox.waiting()) == ([], 0)
