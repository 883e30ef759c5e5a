"""mem0's notes of what it stored: a SQLite file that holds people's words, also those of facts it deleted.

Everything here blocks; call it off the event loop.
"""

import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from condensery.errors import ProviderError

BUSY_SECONDS = 30


def noted_ids(path: Path) -> set[str]:
    """The ids of the facts that the file has notes of; none when there is no file."""
    with _opened(path) as notes:
        return {str(row[0]) for row in notes.execute("SELECT DISTINCT memory_id FROM history")} if notes else set()


def erase(path: Path, ids: Collection[str]) -> None:
    """Overwrite every note of these facts, in one transaction."""
    if ids:
        with _opened(path) as notes:
            if notes:
                notes.executemany("DELETE FROM history WHERE memory_id = ?", [(each,) for each in ids])


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection | None]:
    """The notes, or None when there are none; what is deleted is overwritten with zeros."""
    if not path.exists():
        yield None
        return
    try:
        with closing(sqlite3.connect(path, timeout=BUSY_SECONDS)) as notes, notes:
            notes.execute("PRAGMA secure_delete = ON")
            known = notes.execute("SELECT 1 FROM sqlite_master WHERE name = 'history'").fetchone()
            yield notes if known else None
    except sqlite3.Error as error:
        raise ProviderError(f"mem0's notes in {path} cannot be read or changed ({type(error).__name__})") from error
