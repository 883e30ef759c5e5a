"""Bringing a database to the newest schema: one process at a time, off the event loop."""

import asyncio
import threading
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import URL, Connection, pool, text
from sqlalchemy.ext.asyncio import AsyncConnection

from condensery.errors import ConfigError
from condensery.storage.connect import new_engine, reporting_failures
from condensery.storage.urls import without_password

VERSION_TABLE = "condensery_schema"
ADVISORY_LOCK = 0x636F6E64  # "cond"; any process that migrates this database waits for it
LOCK_SECONDS = 120
_upgrading = threading.Lock()  # Alembic's `op` and `context` are global to the process


async def migrate(url: URL) -> None:
    """Add pgvector and whatever the schema lacks, in one transaction; several processes may do so at once.

    Raises ConfigError without pgvector, without the rights, or for a schema newer than ours; ProviderError when
    the database is out of reach.
    """
    await asyncio.to_thread(_migrate, url)


def _migrate(url: URL) -> None:
    with _upgrading:
        asyncio.run(_upgrade(url))


async def _upgrade(url: URL) -> None:
    engine = new_engine(url, poolclass=pool.NullPool)
    try:
        async with reporting_failures(url), engine.begin() as connection:
            await connection.execute(text(f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'"))
            await connection.execute(text(f"SELECT pg_advisory_xact_lock({ADVISORY_LOCK})"))
            await _require_vector(connection, url)
            await connection.run_sync(_upgrade_to_head)
    except CommandError as error:
        raise ConfigError(
            f"the schema of {without_password(url)} is not one this version knows ({error}); "
            "upgrade condensery, or use another database or data directory"
        ) from error
    finally:
        await engine.dispose()


async def _require_vector(connection: AsyncConnection, url: URL) -> None:
    query = "SELECT installed_version IS NOT NULL FROM pg_available_extensions WHERE name = 'vector'"
    installed = await connection.scalar(text(query))
    if installed is None:
        raise ConfigError(
            f"the server of {without_password(url)} lacks pgvector; install it there "
            "(https://github.com/pgvector/pgvector), or unset CONDENSERY_DATABASE_URL to use the embedded database"
        )
    if not installed:
        await connection.execute(text("CREATE EXTENSION vector"))


def _upgrade_to_head(connection: Connection) -> None:
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    command.upgrade(config, "head")
