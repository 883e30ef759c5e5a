"""What was said before it is forgotten is not stored after it, in whichever order turns end and facts are stored."""

from datetime import UTC, datetime, timedelta

import pytest

from condensery.settings import Memory
from condensery.storage.database import Database
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
