"""Turns to write: one writer of a scope at a time, in whichever process."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from weakref import WeakValueDictionary

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from condensery.memory.mem0_rows import owner_of
from condensery.memory.types import MemoryScope
from condensery.storage.database import Database

WRITERS = 4
"""Scopes that one process writes to at once; each holds a connection meanwhile."""

_held: ContextVar[dict[tuple[int, MemoryScope], AsyncConnection]] = ContextVar("held", default={})  # noqa: B039


class ScopeLocks:
    """Advisory locks of Postgres, each held by the transaction of one connection.

    Writers of this process wait for each other without a connection, so that they leave some to everybody else.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        self._writers = asyncio.Semaphore(WRITERS)
        self._turns: WeakValueDictionary[MemoryScope, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def hold(self, scope: MemoryScope) -> AsyncIterator[AsyncConnection]:
        """Hold `scope`; the connection's transaction ends with the block.

        Within the block, the task and those it starts hold it already, and get the same connection.
        """
        key = (id(self), scope)
        if (connection := _held.get().get(key)) is not None:
            yield connection
            return
        turn = self._turns.setdefault(scope, asyncio.Lock())
        async with turn, self._writers, self._db.transaction() as connection:
            await connection.execute(select(func.pg_advisory_xact_lock(_number(scope))))
            token = _held.set({**_held.get(), key: connection})
            try:
                yield connection
            finally:
                _held.reset(token)


def _number(scope: MemoryScope) -> int:
    digest = hashlib.sha256(":".join(owner_of(scope)).encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)
