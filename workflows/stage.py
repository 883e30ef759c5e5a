"""The decorator of every step of a turn: it times the stage and keeps the record in the run's own store."""

import functools
import time
from collections.abc import Awaitable, Callable
from typing import Concatenate, ParamSpec, TypeVar, cast

from llama_index.core.workflow import Context, step

from condensery.tracing import Notes, degraded, noted, noting
from condensery.workflows.events import StageFinished
from condensery.workflows.turn import StageRecord

__all__ = ["degraded", "noted", "stage", "stages_of"]

STORE_KEY = "stages"

Steps = TypeVar("Steps")
Rest = ParamSpec("Rest")
Result = TypeVar("Result")
Method = Callable[Concatenate[Steps, Context, Rest], Awaitable[Result]]


def stage(method: Method[Steps, Rest, Result]) -> Method[Steps, Rest, Result]:
    """Make an async method a workflow step that records its time in milliseconds and what is told in it."""

    @functools.wraps(method)
    async def timed(self: Steps, ctx: Context, *args: Rest.args, **kwargs: Rest.kwargs) -> Result:
        started = time.perf_counter()
        notes = Notes()
        try:
            with noting() as notes:
                return await method(self, ctx, *args, **kwargs)
        finally:
            elapsed = (time.perf_counter() - started) * 1000
            note = "; ".join(notes) or None
            record = StageRecord(stage=method.__name__, ms=round(elapsed, 2), note=note, degraded=notes.degraded)
            await _keep(ctx, record)

    return cast(Method[Steps, Rest, Result], step(accept_event_subclasses=True)(timed))


async def stages_of(ctx: Context) -> tuple[StageRecord, ...]:
    """The stages of this run that have ended, in the order they ended."""
    records: list[dict[str, object]] = await ctx.store.get(STORE_KEY, default=[])
    return tuple(StageRecord.model_validate(record) for record in records)


async def _keep(ctx: Context, record: StageRecord) -> None:
    async with ctx.store.edit_state() as state:
        state[STORE_KEY] = [*state.get(STORE_KEY, []), record.model_dump()]
    ctx.write_event_to_stream(StageFinished(record=record))
