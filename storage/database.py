"""The database of the process: an embedded Postgres or an external one, migrated, behind one bounded engine."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy import URL
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from condensery.settings import Settings
from condensery.storage.connect import Revive, check_when_idle, new_engine, reporting_failures
from condensery.storage.embedded import EmbeddedServer, start_server
from condensery.storage.migrate import migrate
from condensery.storage.urls import parse_database_url

POOL_SIZE = 10
POOL_SECONDS = 30


class Database:
    """One async engine (asyncpg) for the whole process, of at most `POOL_SIZE` connections."""

    def __init__(self, url: URL, *, revive: Revive | None = None, pool_seconds: float = POOL_SECONDS) -> None:
        self.url = url
        self.engine: AsyncEngine = new_engine(
            url, revive=revive, pool_size=POOL_SIZE, max_overflow=0, pool_timeout=pool_seconds
        )
        check_when_idle(self.engine)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncConnection]:
        """A connection whose work is committed at the end, or undone by an exception.

        The driver's errors leave as ConfigError, ProviderError, or Busy when every connection is in use.
        """
        async with reporting_failures(self.url), self.engine.begin() as connection:
            yield connection

    async def close(self) -> None:
        """Close every connection. An embedded server runs on until the last process that uses it exits."""
        await self.engine.dispose()


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[Database]:
    """Start or reach the database, bring its schema up to date, and close its connections at the end.

    Raises ConfigError for what the operator must change and ProviderError when the database is out of reach.
    """
    database = await _locate(settings)
    try:
        await migrate(database.url)
        yield database
    finally:
        await database.close()


async def _locate(settings: Settings) -> Database:
    if settings.database_url is not None:
        return Database(parse_database_url(settings.database_url.get_secret_value()))

    async def start() -> EmbeddedServer:
        return await asyncio.to_thread(start_server, settings.data_dir)

    return Database((await start()).url(), revive=start)
