"""Rows of the outbox that one worker has for a while, without a lock or a transaction that others would wait for."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import CursorResult, delete, func, update

from condensery.storage.database import Database
from condensery.storage.schema import outbox
from condensery.storage.text import clean_json, clean_text

if TYPE_CHECKING:
    from condensery.storage.outbox import OutboxRow, Payload

LONGEST_WAIT = timedelta(days=1)
"""Doubling stops here."""


@dataclass(frozen=True)
class Lease:
    """A row that nobody else takes before `until`, unless its worker gives it back.

    A worker that is killed gives nothing back: its row is taken again after `until`, behind those that are due by then.
    Every method is a short transaction of its own, and changes nothing when the row was removed, or taken or written
    again since.
    """

    row: "OutboxRow"
    until: datetime
    _db: Database

    async def keep(self, payload: "Payload") -> None:
        """Put `payload` in the place of what the row holds; it is due again as it was, and at its old place."""
        values = {"payload": clean_json(payload), "available_at": self.row.available_at}
        if not await self._change(update(outbox).where(outbox.c.payload == self.row.payload).values(values)):
            await self._change(update(outbox).values(available_at=func.now()))  # written anew: to be looked at anew

    async def done(self) -> None:
        """Remove the row."""
        await self._change(delete(outbox).where(outbox.c.payload == self.row.payload))

    async def failed(self, error: str, *, attempts: int, wait_seconds: float) -> None:
        """Count a failed try; see `failure_of`."""
        await self._change(update(outbox).values(failure_of(self.row, error, attempts, wait_seconds)))

    async def put_off(self, wait_seconds: float) -> None:
        """Give the row back, behind those that wait: it was broken off, which is no failure."""
        await self._change(update(outbox).values(available_at=func.now() + timedelta(seconds=wait_seconds)))

    async def _change(self, statement: Any) -> int:
        ours = statement.where(outbox.c.id == self.row.id, outbox.c.available_at == self.until)
        async with self._db.transaction() as connection:
            result: CursorResult[Any] = await connection.execute(ours)
            return result.rowcount


def failure_of(row: "OutboxRow", error: str, attempts: int, wait_seconds: float) -> Mapping[str, Any]:
    """The columns of a row after a failed try.

    It waits for `wait_seconds`, doubled with each try, and is parked after `attempts` of them. `error` is shown to
    people: our words, never those of a library, which may quote what was said.
    """
    tries = row.attempts + 1
    wait = min(timedelta(seconds=wait_seconds * 2 ** min(row.attempts, 20)), LONGEST_WAIT)
    failure = {"attempts": tries, "last_error": clean_text(error), "available_at": func.now() + wait}
    return failure | ({"parked_at": func.now()} if tries >= attempts else {})
