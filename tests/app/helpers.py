"""What the tests of whole turns share."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from sqlalchemy import text

from condensery.app import App
from condensery.errors import ProviderError
from condensery.models.cross_encoder import CrossEncoderModel
from condensery.retrieval.types import ScoredChunk
from condensery.testing import Scripted, ScriptedLLM
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

    def __init__(self, *replies: Scripted, **fields: Any) -> None:
        super().__init__(*replies, **fields)

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


def notes(turn: Turn) -> dict[str, str]:
    """The note of each stage that has one."""
    return {record.stage: record.note for record in turn.stages if record.note}


def names(turn: Turn) -> list[str]:
    return [found.chunk.id for found in turn.evidence]


def by_final_rank(turn: Turn) -> list[ScoredChunk]:
    """The evidence in the order of the search's last stage."""
    return sorted(turn.evidence, key=lambda found: found.trace.final.rank if found.trace.final else 0)


async def whole_database(app: App) -> str:
    """Every value of every table, as text."""
    async with app.services.database.engine.connect() as connection:
        tables = await connection.execute(
            text("SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = current_schema()")
        )
        rows = [await connection.execute(text(f"SELECT t::text FROM {name} t")) for (name,) in tables]  # noqa: S608
        return "\n".join(str(value) for found in rows for (value,) in found)


class Recording(CrossEncoderModel):
    """A cross-encoder that keeps what it is asked and likes short passages."""

    asked: list[tuple[str, list[str]]]

    async def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        self.asked.append((question, list(passages)))
        return [-float(len(passage)) for passage in passages]
