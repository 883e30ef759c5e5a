import asyncio
import json
import logging
import os
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, suppress
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from condensery.errors import ConfigError, ProviderError
from condensery.settings import Settings
from condensery.storage import database as module
from condensery.storage import embedded
from condensery.storage.connect import PING_AFTER_SECONDS
from condensery.storage.database import Database, open_database
from condensery.storage.embedded import EmbeddedServer, start_server
from condensery.storage.postmaster import find_postmaster, read_pid_file
from condensery.tests.storage.processes import another_process


@pytest.fixture
def new_dir(short_dir: Path) -> Iterator[Path]:
    """An empty data directory whose server, if the test starts one, is stopped at the end."""
    yield short_dir
    stop(short_dir)


@pytest.fixture(scope="module")
def used_dir() -> Iterator[Path]:
    """A data directory that was used and closed, to copy from: cheaper than a first start for every test."""
    path = Path(tempfile.mkdtemp(prefix="cnd-"))
    start_server(path).stop()
    (path / "postgres" / ".handle_pids.json").unlink()  # a copy is not used by this process
    with (path / "postgres" / "postgresql.conf").open("a") as config:
        config.write("fsync = off\n")
    yield path
    shutil.rmtree(path)


@pytest.fixture
def data_dir(new_dir: Path, used_dir: Path) -> Path:
    """A data directory that was used before, and whose server is not running."""
    copy(used_dir, new_dir)
    return new_dir


def copy(used_dir: Path, to: Path) -> None:
    to.mkdir(exist_ok=True)
    subprocess.run(["cp", "-a", used_dir / "postgres", to], check=True)  # -a keeps the owner


def stop(data_dir: Path) -> None:
    if postmaster := find_postmaster(data_dir.resolve() / "postgres"):
        postmaster.send_signal(signal.SIGQUIT)
        postmaster.wait(60)


def kill(server: EmbeddedServer) -> None:
    """End the server as a power cut would: no shutdown, no clean-up."""
    postmaster = find_postmaster(server.pgdata)
    assert postmaster is not None
    postmaster.kill()
    postmaster.wait(60)


def beside(data_dir: Path, file: str = "") -> Iterator[Path]:
    """What a start-up lays down before it moves the finished cluster into place."""
    return data_dir.glob(f"postgres-new-*/{file}")


def opened(data_dir: Path) -> AbstractAsyncContextManager[Database]:
    return open_database(Settings(data_dir=data_dir))


async def value(database: Database, sql: str) -> object:
    async with database.transaction() as connection:
        return await connection.scalar(text(sql))


async def keep(data_dir: Path, number: int) -> None:
    async with opened(data_dir) as database, database.transaction() as connection:
        await connection.execute(text("CREATE TABLE IF NOT EXISTS kept (n int)"))
        await connection.execute(text("INSERT INTO kept VALUES (:n)"), {"n": number})


async def kept(data_dir: Path) -> object:
    async with opened(data_dir) as database:
        return await value(database, "SELECT array_agg(n ORDER BY n) FROM kept")


async def test_the_server_starts_on_first_use_and_keeps_its_data_over_a_restart(new_dir: Path) -> None:
    await keep(new_dir, 1)
    start_server(new_dir).stop()
    assert find_postmaster(new_dir / "postgres") is None
    assert await kept(new_dir) == [1]


async def test_the_event_loop_is_free_while_the_server_starts(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ticked = asyncio.Event()

    def start_when_the_loop_has_turned(path: Path) -> EmbeddedServer:
        loop.call_soon_threadsafe(ticked.set)
        while not ticked.is_set():
            assert threading.current_thread() is not threading.main_thread()
        return start_server(path)

    loop = asyncio.get_running_loop()
    monkeypatch.setattr(module, "start_server", start_when_the_loop_has_turned)
    async with opened(data_dir):
        assert ticked.is_set()


@pytest.mark.parametrize(
    ("handles", "pid_file"),
    [
        ("", None),
        ("[12", ""),
        ('["x", null]', "7\n/some"),
        ("{}", f"{os.getpid()}\n/x\n1\n5432\n/x\n\n1 1\nready\n"),
    ],
    ids=["emptied", "half-written", "foreign", "pid-given-anew"],
)
async def test_damaged_files_after_a_kill_do_not_block_the_start(
    data_dir: Path, handles: str, pid_file: str | None
) -> None:
    await keep(data_dir, 1)
    server = start_server(data_dir)
    kill(server)
    (server.pgdata / ".handle_pids.json").write_text(handles)
    if pid_file is not None:
        (server.pgdata / "postmaster.pid").write_text(pid_file)
    assert await kept(data_dir) == [1]
    assert json.loads((server.pgdata / ".handle_pids.json").read_text()) == [os.getpid()]


async def test_an_open_database_survives_a_kill_of_its_server(data_dir: Path) -> None:
    async with opened(data_dir) as database:
        before = await value(database, "SELECT pg_postmaster_start_time()")
        kill(start_server(data_dir))
        await asyncio.sleep(2 * PING_AFTER_SECONDS)
        assert await value(database, "SELECT pg_postmaster_start_time()") != before


async def test_a_server_that_restarts_after_losing_a_process_is_waited_for(data_dir: Path) -> None:
    """The system ends a process of the server for want of memory; the server drops everyone and recovers."""
    async with opened(data_dir) as database, database.engine.connect() as connection:
        finding = text("SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'")
        os.kill((await connection.execute(finding)).scalar_one(), signal.SIGKILL)
        with suppress(DBAPIError):
            while await connection.scalar(text("SELECT 1")):
                continue
        async with opened(data_dir) as anew:
            assert await value(anew, "SELECT 1") == 1
        assert await value(database, "SELECT 1") == 1


async def test_a_server_that_still_recovers_is_waited_for(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process launched it and gave up; it says `starting`, which the library takes for a failure."""
    pid_file = start_server(data_dir).pgdata / "postmaster.pid"
    ready = pid_file.read_text()
    pid_file.write_text(ready.replace("ready   ", "starting"))
    waited = []

    def recover(seconds: float) -> None:
        waited.append(seconds)
        pid_file.write_text(ready)

    monkeypatch.setattr("condensery.storage.embedded.time.sleep", recover)
    assert (await asyncio.to_thread(start_server, data_dir)).get_postmaster_info().status == "ready"
    assert len(waited) == 1


async def test_a_slow_start_is_told_in_the_log(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(embedded, "SLOW_SECONDS", 0.0)
    with caplog.at_level(logging.WARNING, embedded.__name__):
        async with opened(data_dir):
            pass
    assert "still starting" in caplog.text
    assert str(data_dir) in caplog.text


async def test_a_kill_in_the_middle_of_initdb_leaves_nothing_that_blocks(new_dir: Path) -> None:
    with another_process(new_dir) as process:
        while not any(beside(new_dir, "PG_VERSION")):
            assert process.poll() is None
        os.killpg(process.pid, signal.SIGKILL)
    await keep(new_dir, 1)
    assert await kept(new_dir) == [1]
    assert not any(beside(new_dir))


async def test_a_server_that_cannot_start_shows_the_end_of_its_log(data_dir: Path) -> None:
    server = start_server(data_dir)
    server.stop()
    (server.pgdata / "postgresql.conf").write_text("no_such_setting = 1\n")
    with pytest.raises(ProviderError, match="no_such_setting"):
        async with opened(data_dir):
            pass


@pytest.mark.parametrize("name", ["long " + "x" * 120, "it's ümläut 100% (1)"])
async def test_the_path_of_the_data_directory_may_be_long_or_odd(new_dir: Path, used_dir: Path, name: str) -> None:
    data_dir = new_dir / name
    copy(used_dir, data_dir)
    await keep(data_dir, 1)
    assert await kept(data_dir) == [1]
    info = read_pid_file(data_dir / "postgres")
    assert info is not None
    assert info.socket_path is not None
    assert len(str(info.socket_path).encode()) < 104
    assert info.socket_path.stat().st_mode & 0o077 == 0, "the server trusts whoever reaches its socket"
    stop(data_dir)


async def test_a_path_that_postgres_cannot_take_is_refused_with_the_way_out(new_dir: Path) -> None:
    with pytest.raises(ConfigError, match=r"because of \" ,; set CONDENSERY_DATA_DIR"):
        start_server(new_dir / 'a "quoted", divided folder')


@pytest.mark.parametrize("place", ["file/data", "/proc/data", "/dev/null/data"])
async def test_a_new_directory_that_cannot_be_written_is_refused_with_the_way_out(new_dir: Path, place: str) -> None:
    (new_dir / "file").touch()
    with pytest.raises(ConfigError, match=r"data.*CONDENSERY_DATA_DIR.*CONDENSERY_DATABASE_URL") as caught:
        async with opened(new_dir / place):
            pass
    assert str(new_dir / place) in str(caught.value)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_data_directory_is_refused_with_the_way_out(data_dir: Path) -> None:
    data_dir.chmod(0o500)
    with pytest.raises(ConfigError, match=r"Permission denied.*CONDENSERY_DATA_DIR"):
        start_server(data_dir)
    data_dir.chmod(0o700)


async def test_what_is_not_a_database_is_left_alone(new_dir: Path) -> None:
    (new_dir / "postgres").mkdir()
    (new_dir / "postgres" / "thesis.txt").write_text("mine")
    with pytest.raises(ConfigError, match="CONDENSERY_DATA_DIR"):
        async with opened(new_dir):
            pass
    assert (new_dir / "postgres" / "thesis.txt").read_text() == "mine"


async def test_data_of_another_postgres_version_is_refused(new_dir: Path) -> None:
    (new_dir / "postgres").mkdir()
    (new_dir / "postgres" / "PG_VERSION").write_text("16\n")
    with pytest.raises(ConfigError, match=r"Postgres 16.*pg_dump"):
        async with opened(new_dir):
            pass


async def test_processes_that_start_at_once_share_one_server(new_dir: Path) -> None:
    with another_process(new_dir) as one, another_process(new_dir) as two:
        assert [process.stdout and process.stdout.readline() for process in (one, two)] == ["open\n", "open\n"]
        async with opened(new_dir) as database:
            one.communicate()
            two.communicate()
            assert [one.returncode, two.returncode] == [0, 0]
            assert await value(database, "SELECT 1") == 1


async def test_the_server_stops_with_the_last_process_that_uses_it(data_dir: Path) -> None:
    with another_process(data_dir) as one, another_process(data_dir) as two:
        assert [process.stdout and process.stdout.readline() for process in (one, two)] == ["open\n", "open\n"]
        one.kill()
        one.wait()
        assert find_postmaster(data_dir / "postgres") is not None
    assert two.returncode == 0
    assert find_postmaster(data_dir / "postgres") is None
