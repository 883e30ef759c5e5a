"""Bringing a database to the newest schema: one process at a time, off the event loop."""

import asyncio
import threading
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import URL, Connection, pool, text
from sqlalchemy.ext.asyncio import create_async_engine

from condensery.errors import ConfigError
from condensery.storage.urls import masked

VERSION_TABLE = "condensery_schema"
ADVISORY_LOCK = 0x636F6E64  # "cond"; any process that migrates this database waits for it
LOCK_SECONDS = 120
_upgrading = threading.Lock()  # Alembic's `op` and `context` are global to the process


async def migrate(url: URL) -> None:
    """Apply what is missing, in one transaction, or nothing. Raises ConfigError for a schema newer than ours."""
    await asyncio.to_thread(_migrate, url)


def _migrate(url: URL) -> None:
    with _upgrading:
        asyncio.run(_upgrade(url))


async def _upgrade(url: URL) -> None:
    engine = create_async_engine(url, poolclass=pool.NullPool)
    try:
        async with engine.begin() as connection:
            await connection.execute(text(f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'"))
            await connection.execute(text(f"SELECT pg_advisory_xact_lock({ADVISORY_LOCK})"))
            await connection.execute(text("CREATE EXTENSION IF NOT EXISTS vector"))
            await connection.run_sync(_upgrade_to_head)
    except CommandError as error:
        raise ConfigError(
            f"the schema of {masked(url)} is not one this version knows ({error}); "
            "upgrade condensery, or use another database or data directory"
        ) from error
    finally:
        await engine.dispose()


def _upgrade_to_head(connection: Connection) -> None:
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    command.upgrade(config, "head")
