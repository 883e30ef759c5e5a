"""The programmatic way in: `async with open_app() as app: turn = await app.ask("…")`."""

import asyncio
import logging
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from condensery.agents.rag import RAGAgent
from condensery.errors import CondenseryError, RefusalReason
from condensery.retrieval.ingest import IngestProgress, IngestReport, ingest
from condensery.retrieval.types import Scope
from condensery.services import Services, open_services
from condensery.settings import Settings, load_settings
from condensery.workflows.events import AgentCall, AnswerDelta, ChatStart, TurnEvent, TurnFinished
from condensery.workflows.partial import PartialTurn, reason_of
from condensery.workflows.turn import Outcome, Turn, TurnKey, TurnOptions

log = logging.getLogger(__name__)

STOP_SECONDS = 5.0
"""A stopped run has this long to end before its turn is stored."""


class App:
    """An open Condensery: ask, stream, ingest. Safe for concurrent use within one event loop."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self.settings = services.settings
        self.agent = RAGAgent(services)

    async def ask(self, message: str, **options: Any) -> Turn:
        """Answer `message`; takes the options of `stream` and returns the finished turn."""
        async with aclosing(self.stream(message, **options)) as events:
            async for event in events:
                if isinstance(event, TurnFinished):
                    return event.turn
        raise AssertionError("a turn's stream always ends in TurnFinished")

    async def stream(
        self,
        message: str,
        *,
        conversation_id: str | None = None,
        user_id: str | None = None,
        engine: str | None = None,
        method: str | None = None,
        namespaces: Sequence[str] = (),
        filters: Mapping[str, str] | None = None,
        chat: bool = True,
    ) -> AsyncGenerator[TurnEvent, None]:
        """The events of a turn as they happen: standalone question, evidence, answer deltas, and `TurnFinished` last.

        Every failure ends in a `TurnFinished` whose answer says so; only an unknown engine or method raises
        (`UnknownName`). Closing the stream stops the turn and keeps the partial answer. `chat=False` skips the gate.
        """
        options = TurnOptions(
            engine=engine, method=method, scope=Scope(namespaces=tuple(namespaces), filters=dict(filters or {}))
        )
        self._check(options)
        key = TurnKey(turn_id=str(uuid.uuid4()), conversation_id=conversation_id or str(uuid.uuid4()), user_id=user_id)
        start = await self._start(key, message, options, chat)
        async with aclosing(self._run(start)) as events:
            async for event in events:
                yield event

    async def warm(self) -> None:
        """Load the embedding model and build the lexical index, so that the first question need not wait for them."""
        await asyncio.gather(self.services.embedder.embed_query("warm"), self.services.retrieval.warm())

    async def ingest(
        self,
        paths: Sequence[Path],
        *,
        on_progress: Callable[[IngestProgress], None] | None = None,
        on_batch: Callable[[int], None] | None = None,
    ) -> IngestReport:
        """Bring files and folders into the index; see `condensery.retrieval.ingest.ingest`."""
        return await ingest(paths, self.services, on_progress=on_progress, on_batch=on_batch)

    async def history(self, conversation_id: str, *, user_id: str | None = None) -> list[Turn]:
        """The turns of a conversation, oldest first."""
        return await self.services.turns.list(conversation_id, user_id=user_id)

    def _check(self, options: TurnOptions) -> None:
        self.services.engine(options.engine or self.settings.condense.engine)
        self.services.retriever(options.method or self.settings.retrieval.method)

    async def _start(self, key: TurnKey, message: str, options: TurnOptions, chat: bool) -> ChatStart:
        limits = self.settings.history
        history = await self.services.turns.history(
            key.conversation_id, max_turns=limits.max_turns, max_chars=limits.max_chars, user_id=key.user_id
        )
        kind = ChatStart if chat else AgentCall
        return kind(key=key, message=message, history=tuple(history), options=options)

    async def _run(self, start: ChatStart) -> AsyncGenerator[TurnEvent, None]:
        partial = PartialTurn(start)
        handler = self.agent.run(start_event=start)
        try:
            async for event in handler.stream_events():
                partial.see(event)
                if isinstance(event, TurnEvent):
                    yield event
            await handler
        except (asyncio.CancelledError, GeneratorExit):
            if not partial.finished:
                await asyncio.shield(self._stop(handler, partial))
            raise
        except Exception as error:
            for event in await self._fail(partial, error):
                yield event

    async def _stop(self, handler: Any, partial: PartialTurn) -> None:
        await handler.cancel_run()
        with suppress(Exception):
            await asyncio.wait_for(handler, STOP_SECONDS)
        await self.services.turns.save(partial.turn(Outcome.STOPPED))

    async def _fail(self, partial: PartialTurn, error: Exception) -> list[AnswerDelta | TurnFinished]:
        reason = reason_of(error)
        log.error("a turn ended early (%s): %s", reason, error, exc_info=not isinstance(error, CondenseryError))
        said = AnswerDelta(text=("\n\n" if partial.text else "") + self.services.prompts.text(f"refusal.{reason}"))
        partial.see(said)
        refused = reason is not RefusalReason.FAILED
        turn = partial.turn(Outcome.REFUSED if refused else Outcome.FAILED, reason)
        await self.services.turns.save(turn)
        return [said, TurnFinished(turn=turn)]


@asynccontextmanager
async def open_app(settings: Settings | None = None, **overrides: Any) -> AsyncIterator[App]:
    """Open the app with `settings`, or with what `load_settings(**overrides)` finds; raises `ConfigError`."""
    async with open_services(settings or load_settings(**overrides)) as services:
        yield App(services)
