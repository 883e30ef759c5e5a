"""What becomes of one row of the outbox: facts are found in it, and the next time it is taken they are stored.

Each is written down before the next begins, so that a worker that is killed repeats neither a model's call that was
answered nor a fact. No transaction is open, and no row locked, while a model is asked.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence

from condensery.errors import CondenseryError
from condensery.memory.attribution import supported
from condensery.memory.days import is_over, last_day
from condensery.memory.extraction import MalformedExtraction
from condensery.memory.forgotten import is_among
from condensery.memory.types import NewFact, OpenMemory, user_scope
from condensery.memory.users import Users
from condensery.settings import Memory as MemorySettings
from condensery.storage.leases import Lease
from condensery.storage.outbox import FACTS, OutboxRepository, OutboxRow, Taken

log = logging.getLogger(__name__)

GRACE_SECONDS = 5.0
"""So much longer than a search for facts may take is a row its worker's, which then writes down what it found."""

Had = Lease | Taken
"""A row that this writer has."""

FindFacts = Callable[[str, str], Awaitable[list[NewFact]]]
"""From a standalone question and the answer's own words to the facts that the question states."""


class OutboxWriter:
    """Takes rows of the outbox, one at a time; several writers, in whichever processes, never take the same one."""

    def __init__(
        self,
        outbox: OutboxRepository,
        memory: OpenMemory,
        users: Users,
        find: FindFacts,
        settings: MemorySettings,
        *,
        rules: FindFacts | None = None,
    ) -> None:
        """`rules` finds facts without a model, where `find` fails that needs one."""
        self._outbox = outbox
        self._memory = memory
        self._users = users
        self._find = find
        self._settings = settings
        self._rules = rules

    async def write_next(self) -> bool:
        """Do what is to be done next with the row that has waited longest; False when there is none.

        A failure is kept with the row, which waits for its next try or is parked; only that of the outbox itself is
        raised: `ProviderError`.
        """
        lease, failed = None, False
        async with self._outbox.take() as taken:
            if taken is not None and FACTS in taken.row.payload:
                failed = not await self._tried(taken, self._store_listed)
            elif taken is not None:
                lease = await taken.lease(self._settings.extraction_seconds + GRACE_SECONDS)
        if taken is None:
            await self._tidy()
            return False
        if lease is not None:  # a model takes its time: nobody who deletes the conversation waits for it
            failed = not await self._tried(lease, self._look)
        if failed and not await self._is_wanted(taken.row):  # only now: forgetting passes over a row in work
            await self._outbox.remove(taken.row.id)
        return True

    async def _tried(self, had: Had, write: Callable[[Had], Awaitable[None]]) -> bool:
        """Whether what was to be done with the row is done."""
        try:
            await write(had)
        except asyncio.CancelledError:  # what takes longer than a program lives must not keep the others waiting
            await had.put_off(self._settings.retry_seconds)
            raise
        except Exception as error:
            await self._failed(had, error)
            return False
        return True

    async def _tidy(self) -> None:
        """When there is nothing else to do: erase what is over."""
        await self._memory.erase_expired()
        await self._users.drop_marks()

    async def _look(self, had: Had) -> None:
        """Find the facts of a row, which is taken again with them."""
        if await self._is_wanted(had.row) and (facts := await self._find_in(had.row)):
            await had.keep({FACTS: [fact.model_dump(mode="json") for fact in facts]})
        else:
            await had.done()

    async def _find_in(self, row: OutboxRow) -> list[NewFact]:
        """What is found; when that fails, what the rules find is stored at once, and the rest waits for another try."""
        said = (str(row.payload["question"]), str(row.payload["answer"]))
        try:
            return await self._of_the_turn(row, await self._find(*said))
        except Exception:
            if self._rules is not None:
                await self._store(row, await self._of_the_turn(row, await self._rules(*said)))
            raise

    async def _of_the_turn(self, row: OutboxRow, found: Sequence[NewFact]) -> list[NewFact]:
        until = last_day(row.said_at, self._settings.days)
        where = {"turn_id": row.turn_id, "conversation_id": row.conversation_id, "said_at": row.said_at}
        return await self._still_wanted(row, [fact.model_copy(update={**where, "expires_on": until}) for fact in found])

    async def _store_listed(self, had: Had) -> None:
        await self._store(had.row, [NewFact.model_validate(fact) for fact in _listed(had.row)])
        await had.done()

    async def _store(self, row: OutboxRow, facts: Sequence[NewFact]) -> None:
        scope = user_scope(row.user_id)
        async with self._memory.locked(scope):
            if await self._is_wanted(row):
                await self._memory.remember(await self._still_wanted(row, facts), scope=scope)

    async def _still_wanted(self, row: OutboxRow, facts: Sequence[NewFact]) -> list[NewFact]:
        """Those that hold, and of which nothing that says the same has been forgotten since."""
        user_id = user_scope(row.user_id).id
        current = [fact for fact in facts if not is_over(fact.expires_on)]
        if not current:
            return []
        forgotten = await self._users.facts_forgotten_since(user_id, row.said_at)
        wanted = [fact for fact in current if not is_among(fact, user_id, forgotten)]
        return await self._said_anew(row, user_id, wanted)

    async def _said_anew(self, row: OutboxRow, user_id: str, facts: Sequence[NewFact]) -> list[NewFact]:
        """Without those that are only there because a rewritten question repeats what the person has taken back.

        What was forgotten is still in the conversation, and whoever rewrites the next question reads it. Only what the
        person's own message of this turn says counts then.
        """
        message, began = await self._outbox.said(row)
        repeated = [fact for fact in facts if not supported(fact.text, message, "")]
        if not repeated:
            return list(facts)
        if await self._users.forgotten_since(user_id, row.conversation_id, began):
            return [fact for fact in facts if fact not in repeated]
        forgotten = await self._users.facts_forgotten_since(user_id, began)
        return [fact for fact in facts if fact not in repeated or not is_among(fact, user_id, forgotten)]

    async def _is_wanted(self, row: OutboxRow) -> bool:
        if row.user_id is None or not self._settings.enabled or not await self._users.enabled(row.user_id):
            return False
        return not await self._users.forgotten_since(row.user_id, row.conversation_id, row.said_at)

    async def _failed(self, had: Had, error: Exception) -> None:
        """A model that gives no list of facts is not asked again: such a row is parked at once."""
        attempts = 1 if isinstance(error, MalformedExtraction) else self._settings.attempts
        reason = str(error) if isinstance(error, CondenseryError) else f"storing failed ({type(error).__name__})"
        log.warning("the facts of a turn were not stored: %s", reason)
        log.debug("the reason", exc_info=error)
        await had.failed(reason, attempts=attempts, wait_seconds=self._settings.retry_seconds)


def _listed(row: OutboxRow) -> Sequence[object]:
    facts = row.payload[FACTS]
    return facts if isinstance(facts, list) else ()
