"""An event loop in a thread of its own, so that the main thread is free to wait for a keyboard and for Ctrl-C."""

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, contextmanager
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class Host(Generic[T]):
    """Keeps an async resource open in another thread's event loop; `value` is what opening it gave."""

    value: T

    def __init__(self, resource: AbstractAsyncContextManager[T]) -> None:
        self._resource = resource
        self._loop = asyncio.new_event_loop()
        self._closing = asyncio.Event()
        self._opened: Future[T] = Future()
        self._failed: BaseException | None = None
        self._thread = threading.Thread(target=self._serve, name="condensery")

    def __enter__(self) -> Self:
        """Open the resource; raises what opening raises. Ctrl-C gives up and closes what was opened."""
        with on_interrupt(lambda: self._loop.call_soon_threadsafe(self._give_up)):
            self._thread.start()
            try:
                self.value = self._opened.result()
            except asyncio.CancelledError:
                self._thread.join()
                raise KeyboardInterrupt from None
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join()
        if error is None and self._failed is not None:
            raise self._failed

    def run(self, work: Coroutine[Any, Any, R]) -> R:
        """Run `work` beside the resource and return its result.

        Ctrl-C cancels it; once it has cleaned up, that raises `concurrent.futures.CancelledError`.
        """
        ended: Future[R] = Future()
        tasks: list[asyncio.Task[R]] = []

        def begin() -> None:
            tasks.append(self._loop.create_task(work))
            tasks[0].add_done_callback(lambda task: _hand_over(task, ended))

        def stop() -> None:
            for task in tasks:
                task.cancel()

        with on_interrupt(lambda: self._loop.call_soon_threadsafe(stop)):
            self._loop.call_soon_threadsafe(begin)
            return ended.result()

    def _serve(self) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self._hold())
        except BaseException as error:
            if self._opened.done():
                self._failed = error
            else:
                self._opened.set_exception(error)

    async def _hold(self) -> None:
        async with self._resource as value:
            self._opened.set_result(value)
            await self._closing.wait()

    def _give_up(self) -> None:
        for task in () if self._opened.done() else asyncio.all_tasks(self._loop):
            task.cancel()


@contextmanager
def on_interrupt(act: Callable[[], object]) -> Iterator[None]:
    """Let Ctrl-C call `act` instead of raising KeyboardInterrupt; for the main thread."""
    before = signal.signal(signal.SIGINT, lambda *_: act())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _hand_over(task: asyncio.Task[R], to: Future[R]) -> None:
    if task.cancelled():
        to.cancel()
    elif error := task.exception():
        to.set_exception(error)
    else:
        to.set_result(task.result())
