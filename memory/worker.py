"""The loop that keeps what turns say about people: beside the turns of an app, or in a process of its own."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

from condensery.errors import CondenseryError

log = logging.getLogger(__name__)

POLL_SECONDS = 5.0
"""Rows of other processes, and those that waited for another try, are looked for this often."""

LOOK_SECONDS = 0.05

WriteNext = Callable[[], Awaitable[bool]]
"""Does what is next to be done with one row; False when nothing is due. See `OutboxWriter.write_next`."""


async def work(write_next: WriteNext, *, stop: asyncio.Event, wake: asyncio.Event | None = None) -> None:
    """Write whatever is due until `stop` is set; the row at work is finished. `wake` ends a pause."""
    woken = wake or asyncio.Event()
    while not stop.is_set():
        woken.clear()
        if not await _safely(write_next):
            await _pause(stop, woken)


async def drain(write_next: WriteNext) -> None:
    """Write what is due now."""
    while await _safely(write_next):
        pass


async def settled(write_next: WriteNext, waiting: Callable[[], Awaitable[bool]], *, seconds: float) -> bool:
    """Write what is due until nothing is `waiting` any more; False when something still is after `seconds`."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while await waiting():
                if not await write_next():
                    await asyncio.sleep(LOOK_SECONDS)  # another worker has it, or it waits for another try
            return True
    return False


class MemoryWorker:
    """The loop in the background of an app."""

    def __init__(self, write_next: WriteNext) -> None:
        self._write_next = write_next
        self._stop = asyncio.Event()
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def wake(self) -> None:
        """There may be something to write: begin, or end the pause. Once closed, does nothing."""
        self._wake.set()
        if self._task is None and not self._stop.is_set():
            self._task = asyncio.create_task(work(self._write_next, stop=self._stop, wake=self._wake))

    async def close(self, *, seconds: float) -> None:
        """End the loop; what is due is still written, for at most `seconds`."""
        self._stop.set()
        if self._task is None:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await asyncio.shield(self._task)  # the row it has at the moment is locked to everybody else
                await drain(self._write_next)
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)


async def _safely(write_next: WriteNext) -> bool:
    """Whether something was written; a database out of reach is tried again after the pause."""
    try:
        return await write_next()
    except CondenseryError as error:
        log.warning("what waits to be remembered could not be looked at: %s", error)
    except Exception as error:
        log.error("the memory's writer failed (%s)", type(error).__name__)
        log.debug("the reason", exc_info=error)
    return False


async def _pause(stop: asyncio.Event, wake: asyncio.Event) -> None:
    ends = [asyncio.create_task(event.wait()) for event in (stop, wake)]
    _, pending = await asyncio.wait(ends, timeout=POLL_SECONDS, return_when=asyncio.FIRST_COMPLETED)
    for task in pending:
        task.cancel()
    await asyncio.gather(*pending, return_exceptions=True)
