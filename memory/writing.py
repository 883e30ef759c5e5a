"""What becomes of one row of the outbox: facts are found in it, and the next time it is taken they are stored.

Two transactions, so that a worker that is killed repeats neither a model's call nor a fact.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Protocol

from condensery.errors import CondenseryError
from condensery.memory.extraction import MalformedExtraction
from condensery.memory.forgotten import is_among
from condensery.memory.types import NewFact, OpenMemory, user_scope
from condensery.settings import Memory as MemorySettings
from condensery.storage.outbox import OutboxRepository, OutboxRow, Taken

log = logging.getLogger(__name__)

FACTS = "facts"

FindFacts = Callable[[str, str], Awaitable[list[NewFact]]]
"""From a standalone question and the answer's own words to the facts that the question states."""


class Users(Protocol):
    """Who wants to be remembered, and what they had erased."""

    async def enabled(self, user_id: str) -> bool: ...

    async def forgotten_since(self, user_id: str, conversation_id: str, said_at: datetime) -> bool: ...

    async def facts_forgotten_since(self, user_id: str, said_at: datetime) -> frozenset[str]: ...


class OutboxWriter:
    """Takes rows of the outbox, one at a time; several writers, in whichever processes, never take the same one."""

    def __init__(
        self, outbox: OutboxRepository, memory: OpenMemory, users: Users, find: FindFacts, settings: MemorySettings
    ) -> None:
        self._outbox = outbox
        self._memory = memory
        self._users = users
        self._find = find
        self._settings = settings

    async def write_next(self) -> bool:
        """Do what is to be done next with the row that has waited longest; False when there is none.

        A failure is kept with the row, which waits for its next try or is parked; only that of the outbox itself is
        raised: `ProviderError`.
        """
        async with self._outbox.take() as taken:
            if taken is None:
                return False
            try:
                await self._write(taken)
            except asyncio.CancelledError:  # what takes longer than a program lives must not keep the others waiting
                taken.put_off(self._settings.retry_seconds)
                raise
            except Exception as error:
                await self._failed(taken, error)
        return True

    async def _write(self, taken: Taken) -> None:
        row = taken.row
        if FACTS in row.payload:
            await self._store(row)
            await taken.done()
        elif await self._is_wanted(row) and (facts := await self._find_in(row)):
            await taken.keep({FACTS: [fact.model_dump(mode="json") for fact in facts]})
        else:
            await taken.done()

    async def _find_in(self, row: OutboxRow) -> list[NewFact]:
        found = await self._find(str(row.payload["question"]), str(row.payload["answer"]))
        where = {"turn_id": row.turn_id, "conversation_id": row.conversation_id, "said_at": row.said_at}
        facts = [fact.model_copy(update={**where, "expires_on": self._expiry()}) for fact in found]
        return await self._unforgotten(row, facts)

    async def _store(self, row: OutboxRow) -> None:
        scope = user_scope(row.user_id)
        async with self._memory.locked(scope):
            if await self._is_wanted(row):
                facts = [NewFact.model_validate(fact) for fact in _listed(row)]
                await self._memory.remember(await self._unforgotten(row, facts), scope=scope)

    async def _unforgotten(self, row: OutboxRow, facts: Sequence[NewFact]) -> list[NewFact]:
        """Those of which nothing that says the same has been forgotten since."""
        user_id = user_scope(row.user_id).id
        forgotten = await self._users.facts_forgotten_since(user_id, row.said_at)
        return [fact for fact in facts if not is_among(fact, user_id, forgotten)]

    async def _is_wanted(self, row: OutboxRow) -> bool:
        if row.user_id is None or not self._settings.enabled or not await self._users.enabled(row.user_id):
            return False
        return not await self._users.forgotten_since(row.user_id, row.conversation_id, row.said_at)

    def _expiry(self) -> object:
        days = self._settings.days
        return (datetime.now(UTC) + timedelta(days=days)).date() if days else None

    async def _failed(self, taken: Taken, error: Exception) -> None:
        """A model that gives no list of facts is not asked again: such a row is parked at once."""
        attempts = 1 if isinstance(error, MalformedExtraction) else self._settings.attempts
        reason = str(error) if isinstance(error, CondenseryError) else f"storing failed ({type(error).__name__})"
        log.warning("the facts of a turn were not stored: %s", reason)
        log.debug("the reason", exc_info=error)
        await taken.failed(reason, attempts=attempts, wait_seconds=self._settings.retry_seconds)


def _listed(row: OutboxRow) -> Sequence[object]:
    facts = row.payload[FACTS]
    return facts if isinstance(facts, list) else ()
