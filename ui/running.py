"""The turns that are being answered, so that they can be stopped, and shown to whoever opens their thread meanwhile."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class Running:
    """Tasks by thread, each with the message it answers. For one event loop."""

    def __init__(self) -> None:
        self._tasks: dict[str, dict[asyncio.Task[None], str]] = defaultdict(dict)

    @contextmanager
    def turn(self, thread_id: str, message: str) -> Iterator[None]:
        """Count the current task as answering `message` in this thread."""
        task = asyncio.current_task()
        assert task is not None  # noqa: S101  # only ever entered by a coroutine
        self._tasks[thread_id][task] = message
        try:
            yield
        finally:
            del self._tasks[thread_id][task]
            if not self._tasks[thread_id]:
                del self._tasks[thread_id]

    def messages(self, thread_id: str) -> list[str]:
        """What is being answered in this thread, oldest first."""
        return list(self._tasks.get(thread_id, {}).values())

    async def wait(self, thread_id: str) -> None:
        """Return when the turns that now run in this thread have ended, however they do."""
        await self._ended(self._tasks.get(thread_id, {}))

    async def stop(self, thread_id: str) -> None:
        """Cancel every turn of this thread, and return when their partial answers are kept."""
        await self._cancelled(self._tasks.get(thread_id, {}))

    async def stop_all(self) -> None:
        """Cancel every turn there is, and return when their partial answers are kept."""
        await self._cancelled([task for tasks in self._tasks.values() for task in tasks])

    async def _cancelled(self, tasks: Iterable[asyncio.Task[None]]) -> None:
        tasks = list(tasks)
        for task in tasks:
            task.cancel()
        await self._ended(tasks)

    async def _ended(self, tasks: Iterable[asyncio.Task[None]]) -> None:
        if tasks := list(tasks):
            await asyncio.wait(tasks)
