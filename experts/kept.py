"""Workflows whose runs are held on to until they end."""

import asyncio
from contextlib import suppress
from typing import Any

from llama_index.core.workflow import Context, StartEvent, Workflow
from llama_index.core.workflow.handler import WorkflowHandler  # type: ignore[attr-defined]


class KeptWorkflow(Workflow):
    """Holds every run of it, as long as it is in memory.

    The engine refers to a run weakly, and the loop to its tasks: one that waits for nothing but an event is garbage to
    Python, and an event that reaches it after it was collected is lost.
    """

    def __init__(self, *, timeout: float | None = None) -> None:
        super().__init__(timeout=timeout)
        self._held: set[asyncio.Task[None]] = set()

    def run(self, ctx: Context | None = None, start_event: StartEvent | None = None, **kwargs: Any) -> WorkflowHandler:
        """See `Workflow.run`."""
        handler = super().run(ctx, start_event, **kwargs)
        task = asyncio.create_task(_until_end(handler))
        self._held.add(task)
        task.add_done_callback(self._held.discard)
        return handler

    async def ended(self, *, seconds: float) -> None:
        """Wait until no run is in memory any more, for at most `seconds`."""
        if self._held:
            await asyncio.wait(self._held, timeout=seconds)


async def _until_end(handler: WorkflowHandler) -> None:
    with suppress(Exception):  # whoever began the run hears of it from the store
        await handler
