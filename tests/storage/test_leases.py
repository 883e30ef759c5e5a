"""Rows that a worker has for a while, with no lock and no transaction."""

import pytest
from sqlalchemy import text, update

from condensery.storage.database import Database
from condensery.storage.leases import Lease
from condensery.storage.outbox import OutboxRepository
from condensery.storage.schema import outbox
from condensery.tests.storage.test_outbox import put


@pytest.fixture
def repository(database: Database) -> OutboxRepository:
    return OutboxRepository(database)


async def lease(repository: OutboxRepository, seconds: float = 60) -> Lease:
    async with repository.take() as taken:
        assert taken
        return await taken.lease(seconds)


async def test_a_leased_row_is_nobody_elses_and_no_transaction_has_it(
    database: Database, repository: OutboxRepository
) -> None:
    await put(database, "t")
    held = await lease(repository)
    async with repository.take() as taken:
        assert taken is None
    async with database.transaction() as connection:
        await connection.execute(text("SET LOCAL lock_timeout = '2s'"))
        await connection.execute(text("DELETE FROM turns"))
    await held.keep({"facts": []})
    await held.failed("late", attempts=1, wait_seconds=1)
    assert await repository.of_user("ada") == []


async def test_what_a_lease_keeps_is_due_at_its_old_place(database: Database, repository: OutboxRepository) -> None:
    await put(database, "t1")
    await put(database, "t2")
    await (await lease(repository)).keep({"facts": ["I live in Oslo."]})
    async with repository.take() as taken:
        assert taken
        assert (taken.row.turn_id, taken.row.payload, taken.row.attempts) == ("t1", {"facts": ["I live in Oslo."]}, 0)


async def test_a_row_whose_worker_was_killed_comes_behind_those_that_are_due(
    database: Database, repository: OutboxRepository
) -> None:
    for turn_id in ("kills its worker", "t2", "t3"):
        await put(database, turn_id)
    order = []
    for _ in range(4):
        held = await lease(repository, seconds=0)
        order.append(held.row.turn_id)
        if held.row.turn_id != "kills its worker":
            await held.done()
    assert order == ["kills its worker", "t2", "t3", "kills its worker"]


async def test_a_row_that_was_taken_again_is_not_the_first_ones_any_more(
    database: Database, repository: OutboxRepository
) -> None:
    await put(database, "t")
    late, second = await lease(repository, seconds=0), await lease(repository)
    await late.done()
    await late.failed("late", attempts=1, wait_seconds=0)
    await late.put_off(0)
    await second.failed("the model is out of reach", attempts=1, wait_seconds=0)
    (row,) = await repository.parked()
    assert (row.attempts, row.last_error) == (1, "the model is out of reach")


async def test_a_turn_that_is_stored_anew_meanwhile_is_looked_at_anew(
    database: Database, repository: OutboxRepository
) -> None:
    await put(database, "t")
    held = await lease(repository)
    async with database.transaction() as connection:
        await connection.execute(update(outbox).values(payload={"question": "another", "answer": "a"}))
    await held.keep({"facts": ["of the first question"]})
    async with repository.take() as taken:
        assert taken
        assert taken.row.payload == {"question": "another", "answer": "a"}
