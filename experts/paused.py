"""The server of the runs that wait for an expert: open while there is something to be done, and soon closed again.

While a run waits there is its row in the database and nothing else: no task, no thread, no connection.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from condensery.experts.kept import KeptWorkflow
from condensery.storage.database import Database

if TYPE_CHECKING:
    from condensery.experts.runs import OpenRuns

log = logging.getLogger(__name__)

LINGER_SECONDS = 0.6
"""The server stays open this long after the last piece of work; more than `runs.IDLE_SECONDS`."""


class PausedRuns:
    """Opens the server for as long as somebody needs it; `make` gives the workflow that the runs are of."""

    def __init__(self, db: Database, make: Callable[[], KeptWorkflow]) -> None:
        self._db = db
        self._make = make
        self._opening = asyncio.Lock()
        self._users = 0
        self._runs: OpenRuns | None = None
        self._stack = AsyncExitStack()
        self._closing: asyncio.Task[None] | None = None

    @property
    def is_open(self) -> bool:
        """Whether the server is there at the moment."""
        return self._runs is not None

    @asynccontextmanager
    async def open(self) -> AsyncIterator["OpenRuns"]:
        """The server; it closes a moment after its last user has left."""
        self._users += 1
        try:
            yield await self._opened()
        finally:
            self._users -= 1
            if not self._users and self._closing is None:
                self._closing = asyncio.create_task(self._close_when_unused())

    async def close(self) -> None:
        """Wait until the server is closed, if it is open."""
        if self._closing is not None:
            await self._closing

    async def _opened(self) -> "OpenRuns":
        from condensery.experts.runs import served  # its libraries take half a second, and few turns need them

        async with self._opening:
            if self._runs is None:
                self._runs = await self._stack.enter_async_context(served(self._db, self._make()))
            return self._runs

    async def _close_when_unused(self) -> None:
        while True:
            await asyncio.sleep(LINGER_SECONDS)
            async with self._opening:
                if self._users:
                    continue
                self._runs = None
                try:
                    await self._stack.aclose()
                except Exception as error:
                    log.warning("the server of waiting runs did not close cleanly (%s)", type(error).__name__)
                self._closing = None
                return
