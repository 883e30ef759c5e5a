"""What degrades while a stage runs: told from anywhere in the call, kept in the turn's trace."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

log = logging.getLogger(__name__)


class Notes(list[str]):
    """What a stage has to say of itself; `degraded` when any of it is a fallback."""

    degraded = False


_notes: ContextVar[Notes | None] = ContextVar("notes of the running stage", default=None)


def degraded(reason: str, *, error: BaseException | None = None) -> None:
    """Say that the running stage fell back to something simpler: a WARNING, and a note in the turn's trace.

    `error` goes to the log only. Tasks that a stage starts tell that stage.
    """
    log.warning("degraded: %s", reason, exc_info=error)
    _note(reason, degraded=True)


def noted(reason: str) -> None:
    """Put `reason` in the running stage's trace without a warning: for what is as it should be."""
    log.info("%s", reason)
    _note(reason)


@contextmanager
def noting() -> Iterator[Notes]:
    """Collect in the list what is told within the block."""
    notes = Notes()
    token = _notes.set(notes)
    try:
        yield notes
    finally:
        _notes.reset(token)


def _note(reason: str, *, degraded: bool = False) -> None:
    notes = _notes.get()
    if notes is not None:
        notes.append(reason)
        notes.degraded |= degraded
