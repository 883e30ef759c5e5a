"""What the tests of whole turns share."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from sqlalchemy import text

from condensery.app import App
from condensery.errors import ProviderError
from condensery.testing import ScriptedLLM
from condensery.workflows.events import StageFinished, TurnEvent, TurnFinished
from condensery.workflows.turn import Turn

OpenApp = Callable[..., AbstractAsyncContextManager[App]]


async def events_of(app: App, message: str, **options: Any) -> list[TurnEvent]:
    """Every event of a turn."""
    return [event async for event in app.stream(message, **options)]


def kinds(events: list[TurnEvent]) -> list[str]:
    """The kinds of events in order, runs of answer deltas folded, stage records left out."""
    names = [type(event).__name__ for event in events if not isinstance(event, StageFinished)]
    return [name for at, name in enumerate(names) if at == 0 or name != "AnswerDelta" or names[at - 1] != name]


def finished(events: list[TurnEvent]) -> Turn:
    """The turn that the events end with."""
    assert isinstance(events[-1], TurnFinished)
    return events[-1].turn


async def rows(app: App, sql: str) -> list[Any]:
    """What a statement finds in the app's database."""
    async with app.services.database.engine.connect() as connection:
        return list(await connection.execute(text(sql)))


class BreaksOff(ScriptedLLM):
    """A model whose streamed replies stop in the middle, but for the first `whole`."""

    whole: int = 0

    async def astream_chat(self, messages: Any, **kwargs: Any) -> Any:
        self.whole -= 1
        stream = await super().astream_chat(messages, **kwargs)
        return stream if self.whole >= 0 else _broken(stream)


async def _broken(stream: Any) -> Any:
    count = 0
    async for piece in stream:
        yield piece
        count += 1
        if count == 4:
            raise ProviderError("the endpoint stopped replying")
