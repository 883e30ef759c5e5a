"""`condensery worker`: stores what people said of themselves, in a process of its own."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from condensery.app import App
from condensery.memory.worker import work
from condensery.terminal.memory_commands import counted
from condensery.terminal.opening import opened
from condensery.terminal.options import Options
from condensery.terminal.output import err, out
from condensery.terminal.running import Code

ENDING = "ending after the turn at work; once more ends at once"

PAUSE_SECONDS = 1.0
"""So often `--drain` looks whether something that waited for another try is due."""


class Writing:
    """Writes row by row under the newest settings, and says when it has caught up."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._wrote = False

    async def next(self) -> bool:
        """Do what is to be done next; False when nothing is due. Raises `ProviderError` without the database."""
        await self._app.refresh()
        wrote = await self._app.write_memory()
        if self._wrote and not wrote:
            await self.report()
        self._wrote = wrote
        return wrote

    async def waiting(self) -> int:
        """How many turns are still to be done, now or later."""
        return await self._app.services.outbox.waiting()

    async def report(self) -> None:
        """Say what is left."""
        parked = len(await self._app.services.outbox.parked())
        hint = "; see condensery memory parked --everybody" if parked else ""
        out.say(f"caught up: {counted(await self.waiting(), 'turn')} waiting for another try, {parked} parked{hint}")


async def worker(options: Options, *, once: bool, drain: bool) -> Code:
    """Write until a signal, until nothing is due (`once`), or until nothing waits at all (`drain`).

    The first Ctrl-C or SIGTERM lets the turn at work be finished; the second breaks it off, and it stays as it was.
    """
    stop = asyncio.Event()
    async with opened(options.settings()) as app:
        writing = Writing(app)
        with stopping(stop) as forced:
            try:
                await _write(writing, stop, once=once, drain=drain)
            except asyncio.CancelledError:
                if not forced.is_set():
                    raise
                return Code.INTERRUPTED
    return Code.OK


async def _write(writing: Writing, stop: asyncio.Event, *, once: bool, drain: bool) -> None:
    if not (once or drain):
        err.say(f"{counted(await writing.waiting(), 'turn')} to look at; Ctrl-C ends")
        await work(writing.next, stop=stop)
        return
    while not stop.is_set():
        if await writing.next():
            continue
        if once or not await writing.waiting():
            break
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), PAUSE_SECONDS)


@contextmanager
def stopping(stop: asyncio.Event, said: str = ENDING) -> Iterator[asyncio.Event]:
    """Set `stop` at the first Ctrl-C or SIGTERM, and say so; at the second, cancel the task and set what is given."""
    loop, task, forced = asyncio.get_running_loop(), asyncio.current_task(), asyncio.Event()

    def on_signal() -> None:
        if stop.is_set() and task is not None:
            forced.set()
            task.cancel()
            return
        stop.set()
        err.say(said)

    for each in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(each, on_signal)
    try:
        yield forced
    finally:
        for each in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(each)
