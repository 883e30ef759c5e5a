"""Work that waits for a worker: one row per turn and kind, taken by one worker at a time."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from pydantic import JsonValue
from sqlalchemy import ColumnElement, CursorResult, Row, Select, delete, func, select, true, update
from sqlalchemy.ext.asyncio import AsyncConnection

from condensery.retrieval.types import Frozen
from condensery.storage.connect import reporting_failures
from condensery.storage.database import Database
from condensery.storage.leases import Lease, failure_of
from condensery.storage.reading import reading
from condensery.storage.schema import outbox, turns
from condensery.storage.text import clean_json, clean_text

Payload = dict[str, JsonValue]

MEMORY = "memory"
FACTS = "facts"
"""Where the payload of such a row has the facts that were found in its turn, once they were."""
LARGEST_ID = 2**63 - 1
"""No row has one beyond it, and Postgres refuses to compare with it."""

OF_THE_TURN = (turns.c.user_id, turns.c.conversation_id)


class OutboxRow(Frozen):
    """A row as it is, with whose turn it is from.

    `id` is what `retry` takes; `said_at` the time when the turn began, by the clock of the database.
    """

    id: int
    turn_id: str
    user_id: str | None
    conversation_id: str
    said_at: datetime
    kind: str
    payload: Payload
    attempts: int
    available_at: datetime
    parked_at: datetime | None
    last_error: str | None

    def __repr__(self) -> str:
        """Without what was said: traces are no place for people's words."""
        return f"OutboxRow({self.id}, {self.kind}, attempts={self.attempts})"

    __str__ = __repr__


@dataclass
class Taken:
    """A row that no other worker has until the block it was taken for ends. What is done to it is kept then."""

    row: OutboxRow
    _db: Database
    _connection: AsyncConnection
    _failure: Mapping[str, Any] = field(default_factory=dict)

    async def keep(self, payload: Payload) -> None:
        """Put `payload` in the place of what the row holds; the row stays and can be taken again at once."""
        await self._execute(update(outbox).values(payload=clean_json(payload)))

    async def done(self) -> None:
        """Remove the row."""
        await self._execute(delete(outbox))

    async def lease(self, seconds: float) -> Lease:
        """Have the row for so long after the block, too, in which nobody waits for it; its methods give it back."""
        until = func.clock_timestamp() + timedelta(seconds=seconds)
        mine = update(outbox).where(outbox.c.id == self.row.id).values(available_at=until)
        async with reporting_failures(self._db.url):
            leased = await self._connection.execute(mine.returning(outbox.c.available_at))
        return Lease(self.row, leased.scalar_one(), self._db)

    async def failed(self, error: str, *, attempts: int, wait_seconds: float) -> None:
        """Count a failed try when the block ends, whatever became of its transaction; see `failure_of`."""
        self._failure = failure_of(self.row, error, attempts, wait_seconds)

    async def put_off(self, wait_seconds: float) -> None:
        """Put the row behind those that wait, once the block ends: it was broken off, which is no failure."""
        self._failure = {"available_at": func.now() + timedelta(seconds=wait_seconds)}

    async def _execute(self, statement: Any) -> None:
        async with reporting_failures(self._db.url):
            await self._connection.execute(statement.where(outbox.c.id == self.row.id))

    async def _record_failure(self) -> None:
        unchanged = (outbox.c.id == self.row.id) & (outbox.c.attempts == self.row.attempts)
        async with self._db.transaction() as connection:
            await connection.execute(update(outbox).where(unchanged).values(self._failure))


class OutboxRepository:
    """The outbox in Postgres. Every method raises what `Database.transaction` raises."""

    def __init__(self, db: Database) -> None:
        self._db = db

    @asynccontextmanager
    async def take(self, *, kind: str = MEMORY) -> AsyncIterator[Taken | None]:
        """The row that has waited longest and that nobody else has, or None; it is this block's until it ends.

        One transaction: an exception, or the end of the process, leaves the row as it was, but for a failure told to
        `Taken.failed`, which is recorded afterwards if the row is still there.
        """
        taken: Taken | None = None
        try:
            async with self._db.transaction() as connection:
                row = (await connection.execute(_next(kind))).one_or_none()
                taken = Taken(_row(row), self._db, connection) if row else None
                yield taken
        finally:
            if taken is not None and taken._failure:
                await taken._record_failure()

    async def said(self, row: OutboxRow) -> tuple[str, datetime]:
        """The message of the row's turn, and when its conversation began, by the clock of the program."""
        began = select(func.min(turns.c.created_at)).where(turns.c.conversation_id == clean_text(row.conversation_id))
        query = select(turns.c.message, began.scalar_subquery()).where(turns.c.turn_id == clean_text(row.turn_id))
        async with reading(self._db) as connection:
            found = (await connection.execute(query)).one_or_none()
        return (found[0], found[1]) if found else ("", row.said_at)

    async def waiting(self, *, kind: str = MEMORY) -> int:
        """How many rows are to be done, now or after a wait; parked ones are not."""
        query = select(func.count()).select_from(outbox).where(outbox.c.kind == kind, outbox.c.parked_at.is_(None))
        async with self._db.transaction() as connection:
            return int((await connection.execute(query)).scalar_one())

    async def parked(self, user_id: str | None = None, *, kind: str = MEMORY) -> list[OutboxRow]:
        """What was given up on, the oldest first: of one user, or of everybody."""
        return await self._rows(_rows(kind, user_id).where(outbox.c.parked_at.is_not(None)))

    async def of_user(self, user_id: str, *, kind: str = MEMORY) -> list[OutboxRow]:
        """Everything of a user that waits or is parked, the oldest first."""
        return await self._rows(_rows(kind, user_id))

    async def retry(self, ids: Sequence[int] | None = None, *, user_id: str | None = None, kind: str = MEMORY) -> int:
        """Let parked rows be tried again from now on, as if new: those of `ids`, or all; return how many."""
        mine = _rows(kind, user_id).where(outbox.c.parked_at.is_not(None), true() if ids is None else _among(ids))
        again = {"attempts": 0, "parked_at": None, "last_error": None, "available_at": func.now()}
        found = mine.with_only_columns(outbox.c.id)
        return await self._change(update(outbox).where(outbox.c.id.in_(found)).values(again))

    async def edit(
        self, user_id: str, change: Callable[[Payload], Payload], *, having: str, kind: str = MEMORY
    ) -> None:
        """Change the payloads of a user's rows that have the key `having`, but not of one that a worker has."""
        mine = _rows(kind, user_id).where(outbox.c.payload.has_key(having))
        async with self._db.transaction() as connection:
            found = await connection.execute(mine.with_for_update(of=outbox, skip_locked=True))
            for row in found.all():
                new = clean_json(change(row.payload))
                await connection.execute(update(outbox).where(outbox.c.id == row.id).values(payload=new))

    async def remove(self, id: int) -> None:
        """Remove a row, once no worker has it any more."""
        await self._change(delete(outbox).where(outbox.c.id == id))

    async def drop(self, user_id: str, conversation_id: str | None = None, *, kind: str = MEMORY) -> int:
        """Remove what waits or is parked of a user, or of one conversation of theirs; return how many.

        A row that a worker has at the moment is left to it: the worker asks what was forgotten before it stores.
        """
        mine = _rows(kind, user_id)
        if conversation_id is not None:
            mine = mine.where(turns.c.conversation_id == clean_text(conversation_id))
        free = mine.with_only_columns(outbox.c.id).with_for_update(of=outbox, skip_locked=True)
        return await self._change(delete(outbox).where(outbox.c.id.in_(free)))

    async def _rows(self, query: Select[Any]) -> list[OutboxRow]:
        async with self._db.transaction() as connection:
            return [_row(row) for row in await connection.execute(query)]

    async def _change(self, statement: Any) -> int:
        async with self._db.transaction() as connection:
            result: CursorResult[Any] = await connection.execute(statement)
            return result.rowcount


def _rows(kind: str, user_id: str | None = None) -> Select[Any]:
    query = select(outbox, *OF_THE_TURN).join(turns, turns.c.turn_id == outbox.c.turn_id)
    query = query.where(outbox.c.kind == kind).order_by(outbox.c.id)
    return query if user_id is None else query.where(turns.c.user_id == clean_text(user_id))


def _next(kind: str) -> Select[Any]:
    due = _rows(kind).where(outbox.c.parked_at.is_(None), outbox.c.available_at <= func.now())
    return (
        due.order_by(None)
        .order_by(outbox.c.available_at, outbox.c.id)
        .limit(1)
        .with_for_update(of=outbox, skip_locked=True)
    )


def _among(ids: Sequence[int]) -> ColumnElement[bool]:
    return outbox.c.id.in_([each for each in ids if 0 < each <= LARGEST_ID])


def _row(row: Row[Any]) -> OutboxRow:
    return OutboxRow.model_validate({name: row._mapping[name] for name in OutboxRow.model_fields})
