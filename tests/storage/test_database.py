import asyncio
import logging
import socket
import traceback
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg  # type: ignore[import-untyped]
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from condensery.errors import Busy, ConfigError, ProviderError
from condensery.settings import Settings
from condensery.storage.connect import reporting_failures
from condensery.storage.database import POOL_SIZE, Database, open_database
from condensery.storage.migrate import ADVISORY_LOCK, VERSION_TABLE
from condensery.storage.schema import metadata
from condensery.storage.urls import parse_database_url

CLIENTS = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND"


def at(url: str) -> Settings:
    return Settings.model_validate({"data_dir": "unused", "database_url": url})


async def value(database: Database, sql: str) -> object:
    async with database.transaction() as connection:
        return await connection.scalar(text(sql))


async def run(database: Database, *statements: str) -> None:
    async with database.transaction() as connection:
        for statement in statements:
            await connection.execute(text(statement))


@pytest.fixture
async def empty(empty_database_url: str) -> AsyncIterator[Database]:
    """A database before its first migration."""
    database = Database(parse_database_url(empty_database_url))
    yield database
    await database.close()


async def test_opening_an_empty_database_brings_it_up_to_date(empty_database_url: str) -> None:
    async with open_database(at(empty_database_url)) as database:
        assert await value(database, "SELECT to_regclass('turns') IS NOT NULL AND to_regclass('outbox') IS NOT NULL")
        assert await value(database, "SELECT '[1,2]'::vector <-> '[1,3]'::vector") == 1


async def test_the_migrations_make_exactly_the_tables_that_queries_use(database: Database) -> None:
    def differences(connection: Connection) -> list[object]:
        options = {"include_name": lambda name, kind, _: kind != "table" or name in metadata.tables}
        return list(compare_metadata(MigrationContext.configure(connection, opts=options), metadata))

    async with database.transaction() as connection:
        assert await connection.run_sync(differences) == []


async def test_two_tasks_may_open_an_empty_database_at_once(empty_database_url: str) -> None:
    async def open_and_count() -> object:
        async with open_database(at(empty_database_url)) as database:
            return await value(database, f"SELECT count(*) FROM {VERSION_TABLE}")  # noqa: S608

    assert await asyncio.gather(*(open_and_count() for _ in range(4))) == [1, 1, 1, 1]


async def test_a_migration_waits_for_the_one_of_another_process(empty: Database, empty_database_url: str) -> None:
    async with empty.transaction() as connection:
        await connection.execute(text(f"SELECT pg_advisory_xact_lock({ADVISORY_LOCK})"))
        opening = asyncio.create_task(anext(open_database(at(empty_database_url)).gen))
        waiting = text("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
        while not await connection.scalar(waiting):
            assert not opening.done()
            await asyncio.sleep(0.01)
        assert await connection.scalar(text("SELECT to_regclass('turns')")) is None
    await (await opening).close()
    assert await value(empty, "SELECT to_regclass('turns') IS NOT NULL")


async def test_a_schema_newer_than_this_version_is_refused(database: Database, database_url: str) -> None:
    await run(database, f"UPDATE {VERSION_TABLE} SET version_num = '9999'")  # noqa: S608
    with pytest.raises(ConfigError, match=r"9999.*upgrade condensery"):
        async with open_database(at(database_url)):
            pass


@pytest.mark.parametrize("error", [asyncpg.InternalClientError, asyncpg.ProtocolError, asyncpg.InterfaceError])
async def test_a_connection_that_breaks_in_the_middle_says_what_to_do(error: type[Exception]) -> None:
    with pytest.raises(ProviderError, match=r"the connection to the database .*h/db was lost; try again in a moment"):
        async with reporting_failures(parse_database_url("postgresql://u:secret@h/db")):
            raise error("cannot switch to state 12; words of a person")


async def test_a_server_without_pgvector_is_refused(empty: Database, empty_database_url: str) -> None:
    await run(empty, f"ALTER DATABASE {empty.url.database} SET extension_control_path = '/nonexistent'")
    with pytest.raises(ConfigError, match=r"lacks pgvector; install it"):
        async with open_database(at(empty_database_url)):
            pass
    assert await value(empty, "SELECT to_regclass('turns')") is None


async def test_a_user_without_the_rights_is_told_which_to_grant(empty: Database, empty_database_url: str) -> None:
    await run(empty, "CREATE ROLE powerless LOGIN")
    try:
        with pytest.raises(ConfigError, match="grant CREATE"):
            async with open_database(at(empty_database_url.replace("//postgres@", "//powerless@"))):
                pass
    finally:
        await run(empty, "DROP ROLE powerless")


async def test_a_server_out_of_reach_is_named_without_its_password() -> None:
    with socket.socket() as nobody_listens:
        nobody_listens.bind(("127.0.0.1", 0))
        port = nobody_listens.getsockname()[1]
        with pytest.raises(ProviderError, match=r"cannot reach .*CONDENSERY_DATABASE_URL") as caught:
            async with open_database(at(f"postgres://me:hunter2@127.0.0.1:{port}/docs")):
                pass
    assert f"me:***@127.0.0.1:{port}/docs" in str(caught.value)
    assert "hunter2" not in str(caught.value)


async def test_a_database_that_does_not_exist_is_named(postgres_url: str) -> None:
    with pytest.raises(ConfigError, match=r'"no_such".* createdb'):
        async with open_database(at(postgres_url.replace("/postgres?", "/no_such?"))):
            pass


@pytest.fixture
async def guarded_role(database: Database) -> AsyncIterator[str]:
    """A role the server asks for its password, which holds every character that means something in a URL."""
    hba = Path(str(await value(database, "SHOW hba_file")))
    before = hba.read_text()  # noqa: ASYNC240
    await run(database, r"CREATE ROLE guarded SUPERUSER LOGIN PASSWORD 'p@s\:s/w?r#d%[&]'")
    hba.write_text(f"local all guarded scram-sha-256\n{before}")  # noqa: ASYNC240
    await run(database, "SELECT pg_reload_conf()")
    yield "guarded:p%40s%3As%2Fw%3Fr%23d%25%5B%26%5D"
    hba.write_text(before)  # noqa: ASYNC240
    await run(database, "SELECT pg_reload_conf()", "DROP ROLE guarded")


async def test_a_password_with_every_special_character_opens_the_database(guarded_role: str, database_url: str) -> None:
    async with open_database(at(database_url.replace("//postgres@", f"//{guarded_role}@"))) as opened:
        assert await value(opened, "SELECT current_user") == "guarded"


async def test_a_wrong_password_is_refused_and_not_shown(guarded_role: str, database_url: str) -> None:
    with pytest.raises(ConfigError, match="password authentication failed") as caught:
        async with open_database(at(database_url.replace("//postgres@", "//guarded:hunter2@"))):
            pass
    assert "hunter2" not in str(caught.value)


async def test_many_sessions_share_a_bounded_number_of_connections(database: Database) -> None:
    counting = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'"
    )
    counts = await asyncio.gather(*(value(database, f"{counting} AND pg_sleep(0.01)::text = ''") for _ in range(100)))
    assert max(int(str(count)) for count in counts) == POOL_SIZE


async def test_closing_leaves_no_connection_behind(database: Database, postgres_url: str) -> None:
    await asyncio.gather(*(value(database, "SELECT pg_sleep(0.01)") for _ in range(5)))
    name = database.url.database
    async with open_database(at(postgres_url)) as observer:
        counting = f"{CLIENTS} datname = '{name}'"
        assert int(str(await value(observer, counting))) > 1
        await database.close()
        while await value(observer, counting):  # noqa: ASYNC110
            await asyncio.sleep(0.01)  # the server takes a moment to notice


async def test_when_every_connection_is_in_use_the_error_says_busy(database_url: str) -> None:
    database = Database(parse_database_url(database_url), pool_seconds=0.05)
    try:
        held = [database.transaction() for _ in range(POOL_SIZE)]
        for each in held:
            await each.__aenter__()
        with pytest.raises(Busy):
            await value(database, "SELECT 1")
        for each in held:
            await each.__aexit__(None, None, None)
        assert await value(database, "SELECT 1") == 1
    finally:
        await database.close()


async def test_a_failed_transaction_leaves_nothing_behind(database: Database) -> None:
    """An OSError from inside is the caller's own, although an OSError is also how a connection fails."""

    async def fail_half_way() -> None:
        async with database.transaction() as connection:
            await connection.execute(text("CREATE TABLE half (n int)"))
            raise FileNotFoundError

    with pytest.raises(FileNotFoundError):
        await fail_half_way()
    assert await value(database, "SELECT to_regclass('half')") is None


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO outbox (turn_id, kind, payload) VALUES (:words, 'k', '{}')",
        "SELECT CAST(CAST(:words AS text) AS integer)",
        "SELECT 1 / CAST(:words AS integer)",
    ],
)
async def test_an_unforeseen_failure_never_repeats_what_people_wrote(
    database: Database, caplog: pytest.LogCaptureFixture, statement: str
) -> None:
    caplog.set_level(logging.DEBUG)
    with pytest.raises(ProviderError, match="failed unexpectedly") as raised:
        async with database.transaction() as connection:
            await connection.execute(text(statement), {"words": "my private message"})
    logging.getLogger("condensery").error("it failed", exc_info=raised.value)
    shown = "".join(traceback.format_exception(raised.value)) + caplog.text
    assert "private message" not in shown
    assert "condensery.storage.connect" in {record.name for record in caplog.records}


async def test_parameters_are_hidden_where_the_database_is_not_at_fault(database: Database) -> None:
    async with database.engine.connect() as connection:
        with pytest.raises(DBAPIError) as raised:
            await connection.execute(text("SELECT nothing, :words"), {"words": "my private message"})
    assert "private message" not in str(raised.value)


async def test_a_connection_that_the_server_ended_is_replaced(database: Database) -> None:
    with pytest.raises(ProviderError, match="terminating connection"):
        await value(database, "SELECT pg_terminate_backend(pg_backend_pid())")
    assert await value(database, "SELECT 1") == 1
