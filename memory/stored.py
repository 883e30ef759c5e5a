"""The facts of the table, as far as no embedding model and no mem0 is needed: listing and erasing them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date
from pathlib import Path

from condensery.memory import mem0_history
from condensery.memory.days import today
from condensery.memory.mem0_home import history_path
from condensery.memory.mem0_rows import fact_of, holds, owner_of
from condensery.memory.scope_locks import ScopeLocks
from condensery.memory.types import Fact, MemoryScope
from condensery.storage.memories import MemoryTable
from condensery.storage.text import clean_text


class StoredFacts:
    """Lists and erases the facts of `table`, which exists, and mem0's notes of them in `data_dir`."""

    def __init__(self, table: MemoryTable, data_dir: Path) -> None:
        self._table = table
        self._history = history_path(data_dir)
        self._locks = ScopeLocks(table.db)
        self._erased_on: date | None = None

    async def list(self, *, scope: MemoryScope, history: bool = False) -> list[Fact]:
        """Every fact of `scope`, the newest first; with `history` those superseded and expired, too."""
        day = today()
        rows = await self._table.rows(owner_of(scope))
        facts = [fact_of(id, payload) for id, payload in rows if history or holds(payload, day)]
        return sorted(facts, key=lambda fact: (fact.said_at, fact.id), reverse=True)

    async def forget(
        self, *, scope: MemoryScope, fact_id: str | None = None, conversation_id: str | None = None
    ) -> int:
        """Erase what fits all that is given, or everything, from the table and from mem0's notes; return how many."""
        where = None if conversation_id is None else clean_text(conversation_id)
        async with self._locks.hold(scope) as connection:
            gone = await self._table.remove(connection, owner_of(scope), id=fact_id, conversation_id=where)
            await asyncio.to_thread(mem0_history.erase, self._history, gone)
        return len(gone)

    @asynccontextmanager
    async def locked(self, scope: MemoryScope) -> AsyncIterator[None]:
        """Keep every other writer of `scope`, in whichever process, waiting until the end of the block.

        Within it the methods of this memory may be called, one at a time, from this task or one it awaits. What is
        forgotten there is gone with the end of the block. Hold one scope at a time.
        """
        async with self._locks.hold(scope):
            yield

    async def purge(self) -> None:
        """Erase mem0's notes of facts that are gone: another process, with notes of its own, forgot them."""
        noted = await asyncio.to_thread(mem0_history.noted_ids, self._history)
        await asyncio.to_thread(mem0_history.erase, self._history, await self._table.missing(sorted(noted)))

    async def erase_expired(self) -> None:
        """Erase every fact whose last day has passed, and mem0's notes of it; once a day."""
        day = today()
        if self._erased_on != day:
            gone = await self._table.remove_until(day.toordinal())
            self._erased_on = day
            await asyncio.to_thread(mem0_history.erase, self._history, gone)
