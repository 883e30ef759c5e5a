"""What degrades while a stage runs: told from anywhere in the call, kept in the turn's trace."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar

from condensery.errors import CondenseryError

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


@asynccontextmanager
async def surviving(fallback: str, *, what: str, seconds: float, setting: str = "") -> AsyncIterator[None]:
    """Let nothing but a cancellation out of the block, and end it after `seconds`; what comes after it is the fallback.

    The stage's note says `fallback` and why: how long it took (`setting` sets that), our own error in its words, of any
    other only that `what` failed, since its text may hold what people said.
    """
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        degraded(f"{fallback}: it took longer than {seconds:g} s" + (f" ({setting})" if setting else ""))
    except CondenseryError as error:
        degraded(f"{fallback}: {error}")
    except Exception as error:
        log.error("%s: %s failed (%s)", fallback, what, type(error).__name__)
        log.debug("the reason", exc_info=error)
        degraded(f"{fallback}: {what} failed; the log has the details")


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
