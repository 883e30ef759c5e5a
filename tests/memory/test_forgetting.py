"""What was said before it is forgotten is not stored after it, in whichever order turns end and facts are stored."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, text, update

from condensery.memory.forgotten import digests_of
from condensery.memory.types import NewFact
from condensery.settings import Memory
from condensery.storage.database import Database
from condensery.storage.memory import MemoryUsers
from condensery.storage.schema import memory_forgotten_facts as forgotten_facts
from condensery.tests.memory.controlled import controlling, keep
from condensery.tests.memory.written import Writing

OSLO = "I live in Oslo."


@pytest.fixture
async def writing(database: Database) -> Writing:
    return Writing(database, Memory(attempts=3, retry_seconds=0.001))


async def test_a_turn_that_began_before_forgetting_and_ended_after_it_is_not_remembered(writing: Writing) -> None:
    began = await writing.turns.now()
    await writing.users.mark_forgotten("ada")
    await writing.say("t", at=began)
    await writing.write()
    assert await writing.facts() == []
    await writing.say("later", at=await writing.turns.now())
    await writing.write()
    assert await writing.facts() == [OSLO]


@pytest.mark.parametrize("found", [False, True], ids=["facts still to be found", "facts found"])
@pytest.mark.parametrize("said", [OSLO, "I'm living in Oslo."], ids=["in these words", "nearly so"])
async def test_a_forgotten_fact_that_another_turn_says_too_is_not_stored_later(
    writing: Writing, database: Database, found: bool, said: str
) -> None:
    control = controlling(writing.memory, database)
    (fact,) = await keep(writing.memory, "ada", OSLO, slot="home")
    writing.found = [NewFact(text=said, slot="home"), NewFact(text="My dog is called Rex.")]
    began = await writing.turns.now()
    await writing.say("waits")
    if found:
        await writing.writer.write_next()
    assert (await control.forget("ada", fact_id=fact.id)).facts == 1
    if found:
        assert "Oslo" not in str((await writing.outbox.of_user("ada"))[0].payload)
    await writing.write()
    await writing.say("was being answered", at=began)
    await writing.write()
    assert await writing.facts() == ["My dog is called Rex."]
    await writing.say("again", at=await writing.turns.now())
    await writing.say("somebody else", user_id="bob")
    await writing.write()
    assert said in await writing.facts()
    assert len(await control.list("bob")) == 2


async def test_digests_of_forgotten_facts_go_when_no_turn_can_need_them_any_more(
    writing: Writing, database: Database
) -> None:
    async def marked(days: int) -> int:
        async with database.transaction() as connection:
            await connection.execute(update(forgotten_facts).values(at=func.now() - timedelta(days=days)))
        await MemoryUsers(database).drop_marks()
        async with database.transaction() as connection:
            return (await connection.execute(select(func.count()).select_from(forgotten_facts))).scalar_one()

    await writing.users.mark_facts_forgotten("ada", digests_of("ada", NewFact(text="I am tall.")))
    assert await marked(0) == 2
    before = datetime.now(UTC) - timedelta(days=4)
    await writing.say("waits", at=before, created_at=before)
    assert await marked(3) == 2
    await writing.write()
    assert await marked(3) == 2
    async with database.transaction() as connection:
        await connection.execute(text("DELETE FROM turns"))
    assert await marked(3) == 0


async def test_words_of_a_forgotten_fact_are_kept_nowhere(writing: Writing, database: Database) -> None:
    (fact,) = await keep(writing.memory, "ada", "My cat is called Minka.")
    await controlling(writing.memory, database).forget("ada", fact_id=fact.id)
    async with database.transaction() as connection:
        rows = (await connection.execute(select(forgotten_facts))).all()
    assert rows
    assert "minka" not in str(rows).casefold()
    assert len({row.digest for row in rows} & digests_of("bob", fact)) == 0


@pytest.mark.parametrize("minutes", [-90, 90], ids=["slow", "fast"])
async def test_the_clock_of_the_program_does_not_matter(writing: Writing, minutes: int) -> None:
    skewed = datetime.now(UTC) + timedelta(minutes=minutes)
    await writing.say("before", created_at=skewed)
    await writing.users.mark_forgotten("ada")
    await writing.write()
    assert await writing.facts() == []
    await writing.say("after", created_at=skewed)
    await writing.write()
    assert await writing.facts() == [OSLO]


@pytest.mark.parametrize("which", ["fact", "conversation", "everything"])
async def test_what_was_forgotten_is_not_stored_because_a_rewritten_question_repeats_it(
    writing: Writing, database: Database, which: str
) -> None:
    control = controlling(writing.memory, database)
    await writing.say("first")
    await writing.write()
    (fact,) = await control.list("ada")
    how: dict[str, dict[str, Any]] = {
        "fact": {"fact_id": fact.id},
        "conversation": {"conversation_id": "c"},
        "everything": {"everything": True},
    }
    await control.forget("ada", **how[which])
    await writing.say("rewritten", message="And when does the museum there open?")
    await writing.write()
    assert await writing.facts() == []
    await writing.say("said again", message="As I said, I live in Oslo. When does the museum open?")
    await writing.write()
    assert await writing.facts() == [OSLO]


async def test_what_a_rewritten_question_resolves_is_stored_though_something_else_was_forgotten(
    writing: Writing, database: Database
) -> None:
    control = controlling(writing.memory, database)
    writing.found = [NewFact(text="I play chess.")]
    await writing.say("first", message="I play chess.")
    await writing.write()
    (fact,) = await control.list("ada")
    await control.forget("ada", fact_id=fact.id)
    writing.found = [NewFact(text=OSLO, slot="home")]
    await writing.say("refers", message="I live there.")
    await writing.write()
    assert await writing.facts() == [OSLO]
