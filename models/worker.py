"""One thread that owns something that is not thread-safe, and runs calls on it one at a time, most urgent first."""

import asyncio
import heapq
import itertools
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from condensery.errors import Busy, ProviderError

T = TypeVar("T")
_EXIT_SECONDS = 30.0


class Worker:
    """A thread with a bounded priority queue in front; it starts with the first call.

    Interactive calls run before background ones, each kind in order of arrival. Background calls may fill at most
    half of the queue, so that they never lock people out. A call that is cancelled while it waits never runs and
    leaves the queue at once. The thread ends with `close`, with the last reference to the worker, or with the
    interpreter, whichever is first: `interrupt` is called to hurry the running call, and `at_end` runs in the thread.
    Neither may refer to the worker.
    """

    def __init__(
        self,
        name: str,
        *,
        limit: int,
        interrupt: Callable[[], None] = lambda: None,
        at_end: Callable[[], None] = lambda: None,
    ) -> None:
        self._queue = _Queue(name, limit, at_end)
        self._end = weakref.finalize(self, _end, self._queue, interrupt)

    def submit(self, call: Callable[[], T], *, background: bool = False) -> "Future[T]":
        """Queue `call` and return its future. Raises `Busy` when the queue is full, `ProviderError` once closed."""
        return self._queue.put(call, background)

    async def run(self, call: Callable[[], T], *, background: bool = False) -> T:
        """Queue `call` and wait for its result; cancelling the wait takes a call that has not begun off the queue."""
        return await asyncio.wrap_future(self.submit(call, background=background))

    @property
    def waiting(self) -> int:
        """Calls in the queue that have not begun."""
        return self._queue.waiting()

    def close(self) -> None:
        """Drop what waits, let the running call end, and wait for the thread; safe to call twice."""
        self._end()


class _Queue:
    """The part the thread may hold on to: a reference to the `Worker` would keep it, and the thread, alive."""

    def __init__(self, name: str, limit: int, at_end: Callable[[], None]) -> None:
        self.name, self.limit, self.at_end = name, limit, at_end
        self.changed = threading.Condition()
        self.heap: list[tuple[bool, int, Future[Any], Callable[[], Any]]] = []
        self.numbers = itertools.count()
        self.thread: threading.Thread | None = None
        self.closed = False

    def put(self, call: Callable[[], T], background: bool) -> "Future[T]":
        future: Future[T] = Future()
        with self.changed:
            if self.closed:
                raise ProviderError(f"the {self.name} is closed; open it again before calling it")
            self._make_room(background)
            heapq.heappush(self.heap, (background, next(self.numbers), future, call))
            self._start()
            self.changed.notify()
        return future

    def _make_room(self, background: bool) -> None:
        self.heap = [entry for entry in self.heap if not entry[2].cancelled()]
        heapq.heapify(self.heap)
        late = sum(entry[0] for entry in self.heap)
        if len(self.heap) >= self.limit or (background and late >= max(1, self.limit // 2)):
            raise Busy(f"the {self.name} has {len(self.heap)} calls waiting, all it takes; try again in a moment")

    def _start(self) -> None:
        if self.thread is None:
            # A daemon, because the interpreter joins other threads before it runs the exit hook that ends this one.
            self.thread = threading.Thread(target=self._work, name=self.name, daemon=True)
            self.thread.start()

    def _work(self) -> None:
        while (entry := self._next()) is not None:
            run_into(*entry)
            del entry
        self.at_end()

    def _next(self) -> tuple[Future[Any], Callable[[], Any]] | None:
        with self.changed:
            self.changed.wait_for(lambda: self.heap or self.closed)
            return None if self.closed else heapq.heappop(self.heap)[2:]

    def waiting(self) -> int:
        with self.changed:
            return sum(not entry[2].cancelled() for entry in self.heap)

    def drain(self) -> list[Future[Any]]:
        with self.changed:
            self.closed = True
            dropped = [entry[2] for entry in self.heap]
            self.heap.clear()
            self.changed.notify_all()
        return dropped


def run_into(future: Future[T], call: Callable[[], T]) -> None:
    """Run `call` and put its result or exception into `future`; a cancelled future's call does not run."""
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = call()
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(result)


def _end(queue: _Queue, interrupt: Callable[[], None]) -> None:
    interrupt()
    for future in queue.drain():
        future.cancel()
    if queue.thread is not None and queue.thread is not threading.current_thread():
        queue.thread.join(_EXIT_SECONDS)
