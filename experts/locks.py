"""Who is at work on a run: one process at a time. A process that is killed lets go of everything by that."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.ext.asyncio import AsyncConnection


class RunLocks:
    """Advisory locks of Postgres, all held by one connection, which is open only while there is work."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection
        self._one_at_a_time = asyncio.Lock()
        self._held: set[str] = set()

    @asynccontextmanager
    async def hold(self, name: str) -> AsyncIterator[bool]:
        """Whether `name` is ours within the block; False while anybody else has it, here or elsewhere."""
        if name in self._held:
            yield False
            return
        self._held.add(name)
        try:
            ours = await self._ask(func.pg_try_advisory_lock(_number(name)))
            try:
                yield ours
            finally:
                if ours:
                    await self._ask(func.pg_advisory_unlock(_number(name)))
        finally:
            self._held.discard(name)

    async def _ask(self, question: ColumnElement[bool]) -> bool:
        async with self._one_at_a_time:
            return bool((await self._connection.execute(select(question))).scalar_one())


def _number(name: str) -> int:
    digest = hashlib.sha256(f"expert run {name}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)
