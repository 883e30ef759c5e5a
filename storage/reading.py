"""Connections for single reads."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy.ext.asyncio import AsyncConnection

from condensery.storage.connect import reporting_failures
from condensery.storage.database import Database


@asynccontextmanager
async def reading(db: Database) -> AsyncIterator[AsyncConnection]:
    """A connection without a transaction: each statement is one round trip and sees what is committed by then.

    Raises what `Database.transaction` raises.
    """
    reader = db.engine.execution_options(isolation_level="AUTOCOMMIT")
    async with reporting_failures(db.url), reader.connect() as connection:
        yield connection
