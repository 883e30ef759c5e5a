"""The database of the process: an embedded Postgres or an external one, migrated, behind one bounded engine."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy import URL
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker, create_async_engine

from condensery.settings import Settings
from condensery.storage.embedded import start_server
from condensery.storage.migrate import migrate
from condensery.storage.urls import parse_database_url

POOL_SIZE = 10


class Database:
    """One async engine (asyncpg) for the whole process; at most `POOL_SIZE` connections."""

    def __init__(self, url: URL) -> None:
        self.url = url
        self.engine: AsyncEngine = create_async_engine(url, pool_size=POOL_SIZE, max_overflow=0, pool_pre_ping=True)
        self.sessions = async_sessionmaker(self.engine, class_=AsyncSession, expire_on_commit=False)

    async def close(self) -> None:
        """Close every connection. An embedded server keeps running until its last process exits."""
        await self.engine.dispose()


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[Database]:
    """Start or reach the database, bring its schema up to date, and close its connections at the end.

    Raises ConfigError for what the operator must change and ProviderError when the database is out of reach.
    """
    url = await _locate(settings)
    await migrate(url)
    database = Database(url)
    try:
        yield database
    finally:
        await database.close()


async def _locate(settings: Settings) -> URL:
    if settings.database_url is not None:
        return parse_database_url(settings.database_url.get_secret_value())
    server = await asyncio.to_thread(start_server, settings.data_dir)
    return server.url()
