import asyncio
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import text, update

from condensery.errors import ProviderError
from condensery.storage.database import Database
from condensery.storage.leases import LONGEST_WAIT
from condensery.storage.outbox import OutboxRepository
from condensery.storage.schema import outbox
from condensery.storage.turns import TurnRepository
from condensery.workflows.turn import OutboxEntry, Outcome, Turn, TurnKey

SAID = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


@pytest.fixture
def repository(database: Database) -> OutboxRepository:
    return OutboxRepository(database)


async def put(database: Database, turn_id: str, *, user: str | None = "ada", conversation: str = "c") -> None:
    key = TurnKey(turn_id=turn_id, conversation_id=conversation, user_id=user)
    turn = Turn(key=key, message="raw", answer="a", outcome=Outcome.ANSWERED)
    payload: dict[str, Any] = {"question": f"question {turn_id}", "answer": "a"}
    entry = OutboxEntry(turn_id=turn_id, kind="memory", payload=payload, said_at=SAID)
    await TurnRepository(database).save(turn, entry)


async def make_due(database: Database) -> None:
    async with database.transaction() as connection:
        await connection.execute(update(outbox).values(available_at=text("now() - interval '1 second'")))


async def park(database: Database, repository: OutboxRepository, *turn_ids: str, user: str = "ada") -> None:
    for turn_id in turn_ids:
        await put(database, turn_id, user=user)
        async with repository.take() as taken:
            assert taken
            await taken.failed("no model", attempts=1, wait_seconds=1)


async def test_a_row_is_taken_with_whose_turn_it_is_from(database: Database, repository: OutboxRepository) -> None:
    await put(database, "t", user="ada", conversation="first")
    async with repository.take() as taken:
        assert taken
        row = taken.row
        assert (row.turn_id, row.user_id, row.conversation_id, row.said_at) == ("t", "ada", "first", SAID)
        assert (row.kind, row.attempts, row.payload) == ("memory", 0, {"question": "question t", "answer": "a"})


async def test_an_empty_outbox_gives_nothing(repository: OutboxRepository) -> None:
    async with repository.take() as taken:
        assert taken is None
    assert await repository.waiting() == 0


async def test_rows_come_oldest_first_and_are_gone_when_done(database: Database, repository: OutboxRepository) -> None:
    names = []
    for turn_id in ("t1", "t2", "t3"):
        await put(database, turn_id)
    while await repository.waiting():
        async with repository.take() as taken:
            assert taken
            names.append(taken.row.turn_id)
            await taken.done()
    assert names == ["t1", "t2", "t3"]


async def test_another_kind_of_work_is_left_alone(database: Database, repository: OutboxRepository) -> None:
    await put(database, "t")
    async with repository.take(kind="title") as taken:
        assert taken is None


async def test_a_row_in_work_is_nobody_elses(database: Database, repository: OutboxRepository) -> None:
    await put(database, "t1")
    await put(database, "t2")
    async with repository.take() as one, repository.take() as other, repository.take() as third:
        assert one
        assert other
        assert {one.row.turn_id, other.row.turn_id} == {"t1", "t2"}
        assert third is None


async def test_every_row_is_done_by_one_of_many_workers(database: Database, repository: OutboxRepository) -> None:
    for number in range(20):
        await put(database, f"t{number}")
    done: list[str] = []

    async def work() -> None:
        while True:
            async with repository.take() as taken:
                if taken is None:
                    return
                await asyncio.sleep(0)
                done.append(taken.row.turn_id)
                await taken.done()

    await asyncio.gather(*(work() for _ in range(5)))
    assert sorted(done) == sorted(f"t{number}" for number in range(20))


async def test_what_is_kept_is_there_at_the_next_take(database: Database, repository: OutboxRepository) -> None:
    await put(database, "t")
    async with repository.take() as taken:
        assert taken
        await taken.keep(taken.row.payload | {"facts": ["I live in Oslo.\x00"]})
    async with repository.take() as taken:
        assert taken
        assert taken.row.payload == {"question": "question t", "answer": "a", "facts": ["I live in Oslo."]}
        assert taken.row.attempts == 0


async def test_an_exception_leaves_the_row_as_it_was(database: Database, repository: OutboxRepository) -> None:
    await put(database, "t")

    async def crash() -> None:
        async with repository.take() as taken:
            assert taken
            await taken.keep({})
            await taken.done()
            raise KeyError

    with pytest.raises(KeyError):
        await crash()
    async with repository.take() as taken:
        assert taken
        assert (taken.row.payload["question"], taken.row.attempts) == ("question t", 0)


async def test_a_failed_try_waits_twice_as_long_each_time_and_is_parked_in_the_end(
    database: Database, repository: OutboxRepository
) -> None:
    await put(database, "t")
    waits = []
    for _ in range(3):
        async with repository.take() as taken:
            assert taken
            await taken.failed("the model is out of reach", attempts=4, wait_seconds=10)
        async with repository.take() as taken:
            assert taken is None
        async with database.transaction() as connection:
            query = text("SELECT extract(epoch FROM available_at - now()), attempts FROM outbox")
            seconds, attempts = (await connection.execute(query)).one()
        waits.append((round(float(seconds), -1), attempts))
        await make_due(database)
    assert waits == [(10, 1), (20, 2), (40, 3)]
    assert await repository.parked() == []
    async with repository.take() as taken:
        assert taken
        await taken.failed("the model is out of reach", attempts=4, wait_seconds=10)
    await make_due(database)
    async with repository.take() as taken:
        assert taken is None
    (row,) = await repository.parked()
    assert (row.turn_id, row.attempts, row.last_error) == ("t", 4, "the model is out of reach")
    assert await repository.waiting() == 0


async def test_the_wait_has_an_end(database: Database, repository: OutboxRepository) -> None:
    await put(database, "t")
    async with database.transaction() as connection:
        await connection.execute(update(outbox).values(attempts=90))
    async with repository.take() as taken:
        assert taken
        await taken.failed("no", attempts=100, wait_seconds=10)
    (row,) = await repository.of_user("ada")
    assert row.available_at - datetime.now(UTC) <= LONGEST_WAIT


async def test_a_failure_is_counted_also_when_the_block_ends_in_an_exception(
    database: Database, repository: OutboxRepository
) -> None:
    await put(database, "t")

    async def fail() -> None:
        async with repository.take() as taken:
            assert taken
            await taken.keep({"half": "done"})
            await taken.failed("the database went away", attempts=5, wait_seconds=10)
            raise ProviderError("gone")

    with pytest.raises(ProviderError, match="gone"):
        await fail()
    (row,) = await repository.of_user("ada")
    assert (row.attempts, row.last_error, row.payload["question"]) == (1, "the database went away", "question t")


async def test_a_failure_in_a_broken_transaction_is_counted(database: Database, repository: OutboxRepository) -> None:
    await put(database, "t")

    async def broken() -> None:
        async with repository.take() as taken:
            assert taken
            with pytest.raises(ProviderError):
                await taken._execute(update(outbox).values(turn_id="there is no such turn"))
            await taken.failed("broken", attempts=5, wait_seconds=10)

    with suppress(ProviderError):  # a transaction in which a statement failed may say so once more at its end
        await broken()
    (row,) = await repository.of_user("ada")
    assert (row.attempts, row.last_error) == (1, "broken")


async def test_a_failure_of_a_row_that_is_gone_is_nothing(database: Database, repository: OutboxRepository) -> None:
    await put(database, "t")
    async with repository.take() as taken:
        assert taken
        await taken.done()
        await taken.failed("late", attempts=5, wait_seconds=10)
    assert await repository.of_user("ada") == []


async def test_parked_rows_are_tried_again_as_if_new(database: Database, repository: OutboxRepository) -> None:
    await park(database, repository, "t1", "t2", "t3")
    await park(database, repository, "b", user="bob")
    first, second, _ = await repository.parked("ada")
    assert await repository.retry([first.id, second.id, 10**30, -1], user_id="bob") == 0
    assert await repository.retry([first.id, second.id, 10**30, -1]) == 2
    async with repository.take() as taken:
        assert taken
        assert (taken.row.turn_id, taken.row.attempts, taken.row.last_error) == ("t1", 0, None)
    assert await repository.retry(user_id="ada") == 1
    assert [row.turn_id for row in await repository.parked()] == ["b"]
    assert await repository.retry() == 1
    assert await repository.waiting() == 4


async def test_a_row_that_only_waits_is_not_retried(database: Database, repository: OutboxRepository) -> None:
    await put(database, "t")
    async with repository.take() as taken:
        assert taken
        await taken.failed("no", attempts=5, wait_seconds=10)
    assert await repository.retry() == 0
    assert (await repository.of_user("ada"))[0].attempts == 1


async def test_what_is_dropped_is_that_users_and_conversations_only(
    database: Database, repository: OutboxRepository
) -> None:
    await park(database, repository, "parked")
    await put(database, "t1", conversation="c1")
    await put(database, "t2", conversation="c2")
    await put(database, "b", user="bob", conversation="c1")
    await put(database, "nobody", user=None, conversation="c1")
    assert await repository.drop("ada", "c1") == 1
    assert [row.turn_id for row in await repository.of_user("ada")] == ["parked", "t2"]
    assert await repository.drop("ada") == 2
    assert await repository.drop("ada") == 0
    assert [row.turn_id for row in await repository.of_user("bob")] == ["b"]
    assert await repository.waiting() == 2


async def test_dropping_leaves_the_row_that_a_worker_has(database: Database, repository: OutboxRepository) -> None:
    await put(database, "t1")
    await put(database, "t2")
    async with repository.take() as taken:
        assert taken
        assert await repository.drop("ada") == 1
    assert [row.turn_id for row in await repository.of_user("ada")] == ["t1"]


async def test_a_row_in_a_log_shows_nothing_that_was_said(database: Database, repository: OutboxRepository) -> None:
    await put(database, "t")
    (row,) = await repository.of_user("ada")
    assert "question" not in f"{row!r} {row!s}"
