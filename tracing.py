"""What degrades while a stage runs: told from anywhere in the call, kept in the turn's trace."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

log = logging.getLogger(__name__)

_notes: ContextVar[list[str] | None] = ContextVar("notes of the running stage", default=None)


def degraded(reason: str, *, error: BaseException | None = None) -> None:
    """Say that the running stage fell back to something simpler: a WARNING, and a note in the turn's trace.

    `error` goes to the log only. Tasks that a stage starts tell that stage.
    """
    log.warning("degraded: %s", reason, exc_info=error)
    _note(reason)


def noted(reason: str) -> None:
    """Put `reason` in the running stage's trace without a warning: for what somebody chose."""
    log.info("%s", reason)
    _note(reason)


@contextmanager
def noting() -> Iterator[list[str]]:
    """Collect in the list what degrades within the block."""
    notes: list[str] = []
    token = _notes.set(notes)
    try:
        yield notes
    finally:
        _notes.reset(token)


def _note(reason: str) -> None:
    notes = _notes.get()
    if notes is not None:
        notes.append(reason)
