"""The programmatic way in: `async with open_app() as app: turn = await app.ask("…")`."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from condensery.agents.current import CurrentAgents
from condensery.agents.expert_rag import experts_of
from condensery.agents.few_shot import Classified
from condensery.agents.memory_writer import memory_writer
from condensery.agents.profiles import Talking, narrowed, speaking, understanding
from condensery.errors import RefusalReason, loggable
from condensery.experts.control import ExpertControl
from condensery.memory.control import MemoryControl
from condensery.memory.worker import MemoryWorker, settled
from condensery.retrieval.ingest import IngestProgress, IngestReport, ingest
from condensery.services import Services, open_services
from condensery.settings import Settings, load_settings
from condensery.workflows.events import AnswerDelta, ChatStart, EvidenceReady, TurnEvent, TurnFinished
from condensery.workflows.memory import to_remember
from condensery.workflows.partial import PartialTurn, reason_of
from condensery.workflows.reading_ahead import ReadingAhead
from condensery.workflows.starting import check, turn_options, turn_start
from condensery.workflows.suggesting import suggestions
from condensery.workflows.turn import Exchange, Outcome, Turn, TurnKey

log = logging.getLogger(__name__)

STOP_SECONDS = 5.0
"""A stopped run has this long to end before its turn is stored."""
FAULTS = frozenset({RefusalReason.FAILED, RefusalReason.BROKEN_OFF})


class App:
    """An open Condensery: ask, stream, ingest. Safe for concurrent use within one event loop."""

    def __init__(self, services: Services) -> None:
        self._agents = CurrentAgents(services)
        self._stopping: set[asyncio.Task[None]] = set()
        self._ahead = ReadingAhead()
        self._memory_worker = MemoryWorker(self.write_memory)
        self._experts = experts_of(lambda: self.services)

    @property
    def agent(self) -> Talking:
        """The default agent under the newest settings that this app has seen."""
        return self.named()

    def named(self, agent: str | None = None) -> Talking:
        """The agent of that name, under those settings. Raises `UnknownName`, and `ConfigError` when it labels."""
        return self._agents.named(agent)

    def services_of(self, agent: str) -> Services:
        """The collaborators of the agent of that name, whatever its kind. Raises `UnknownName`."""
        return self._agents.services_of(agent)

    @property
    def services(self) -> Services:
        """The collaborators, under the newest settings that this app has seen."""
        return self._agents.services

    @property
    def settings(self) -> Settings:
        """The newest settings that this app has seen; `refresh` looks whether there are newer ones."""
        return self.services.settings

    @property
    def memory(self) -> MemoryControl:
        """What is known about people: to see, to erase, to switch off."""
        return self.services.memory_control

    @property
    def experts(self) -> ExpertControl:
        """What experts are asked: to see, to answer, to decline; consent."""
        return self._experts

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
        agent: str | None = None,
        conversation_id: str | None = None,
        user_id: str | None = None,
        organization_id: str | None = None,
        engine: str | None = None,
        method: str | None = None,
        namespaces: Sequence[str] = (),
        filters: Mapping[str, str] | None = None,
        chat: bool = True,
    ) -> AsyncGenerator[TurnEvent, None]:
        """The events of a turn as they happen: standalone question, evidence, answer deltas, and `TurnFinished` last.

        Every failure ends in a `TurnFinished` whose answer says so; only a wrong option raises `ConfigError`: an
        unknown agent, engine or method (`UnknownName`), or a filter key that is no name. Closing the stream stops the
        turn and keeps the partial answer. `agent` names a profile of the settings; `chat=False` skips the gate. Facts
        are recalled and kept under `user_id`, and recalled under `organization_id`; where one is missing, none are.
        """
        options = turn_options(engine=engine, method=method, namespaces=namespaces, filters=filters)
        if agent is not None:
            options = narrowed(options, self.settings, agent)
        start = turn_start(
            message,
            options,
            conversation_id=conversation_id,
            user_id=user_id,
            organization_id=organization_id,
            chat=chat,
        )
        async with aclosing(self._run(start, agent)) as events:
            async for event in events:
                yield event

    async def classify(self, message: str, *, agent: str, history: Sequence[Exchange] = ()) -> Classified:
        """The label of `message` by the examples of `agent`, a profile of the kind few_shot; nothing is stored.

        `history`, oldest first, is what a follow-up is understood by. Raises `ConfigError` for another agent.
        """
        await self.refresh()
        return await self._agents.labelling(agent).classify_text(message, history)

    async def suggest(self, turn: Turn) -> list[str]:
        """Questions that the evidence of `turn` answers, to ask next; at most `answer.suggestions` of them."""
        services = await speaking(self.services, turn.message, ())
        return await suggestions(turn, services, services.settings.answer.suggestions)

    async def warm(self) -> None:
        """Load the embedding model and build the lexical index, so that the first question need not wait for them."""
        services = self.services
        if services.settings.memory.enabled and services.settings.memory.in_process:
            self._memory_worker.wake()  # there may be turns that an earlier process left
        if await self._experts.has_open():
            self._experts.wake()
        await asyncio.gather(services.embedder.embed_query("warm"), services.retrieval.warm(), services.memory.warm())
        if services.question_guard is not None:
            await services.question_guard.warm()

    async def ingest(
        self,
        paths: Sequence[Path | str] | Path | str,
        *,
        on_progress: Callable[[IngestProgress], None] | None = None,
        on_batch: Callable[[int], None] | None = None,
    ) -> IngestReport:
        """Bring files and folders into the index; see `condensery.retrieval.ingest.ingest`."""
        given = [paths] if isinstance(paths, str | Path) else paths
        return await ingest([Path(path) for path in given], self.services, on_progress=on_progress, on_batch=on_batch)

    async def history(self, conversation_id: str, *, user_id: str | None = None) -> list[Turn]:
        """The turns of a conversation, oldest first."""
        return await self.services.turns.list(conversation_id, user_id=user_id)

    async def refresh(self) -> Settings:
        """The settings as they are now, whichever process changed them; turns in flight keep those they began with."""
        await self._agents.refresh()
        return self.settings

    async def set_settings(self, changes: Mapping[str, Any]) -> Settings:
        """Change settings for every process that uses this database, from the next turn on: all of them or none.

        Names are paths (`retrieval.top_k`), or sections with a dict of fields. Raises `ConfigError` for one that cannot
        be changed at run time (`settings_runtime.py` lists them), a value that is not allowed, a rule that would be
        broken, and a method whose model is not here.
        """
        await self._agents.set(changes)
        return self.settings

    async def reset_settings(self, *names: str) -> Settings:
        """Let settings be what they are without the database again, from the next turn on; see `set_settings`."""
        await self._agents.reset(*names)
        return self.settings

    async def _begun(self, name: str | None, partial: PartialTurn) -> Talking:
        """The agent of this turn, whose settings stay as they are now."""
        try:
            await self.refresh()
        except asyncio.CancelledError:
            await self._stopped(None, partial)
            raise
        return self._agents.named(name)

    async def _run(self, start: ChatStart, name: str | None) -> AsyncGenerator[TurnEvent, None]:
        partial = PartialTurn(start.key, start.message)
        handler: Any = None
        agent = await self._begun(name, partial)
        check(agent.services, start.options)
        self._ahead.stop()
        try:
            begun = await self._with_history(start, agent.services)
            partial.asked_at = begun.asked_at
            agent = await understanding(agent, begun)
            handler = agent.run(start_event=begun)
            async for event in handler.stream_events():
                partial.see(event)
                if isinstance(event, TurnFinished):
                    self._ahead.begin(agent.services, start)
                    self._remember_later(agent.services, start.key)
                    if event.turn.outcome is Outcome.ASKS_EXPERT:
                        self._experts.wake()
                if isinstance(event, TurnEvent):
                    yield event
            await handler
        except (asyncio.CancelledError, GeneratorExit):
            await self._stopped(handler, partial)
            raise
        except Exception as error:
            for event in await self._fail(partial, error, agent.services):
                yield event

    async def _with_history(self, start: ChatStart, services: Services) -> ChatStart:
        limits, key = services.settings.history, start.key
        asked_at = None if key.user_id is None else await services.turns.now()
        history = await services.turns.history(
            key.conversation_id, max_turns=limits.max_turns, max_chars=limits.max_chars, user_id=key.user_id
        )
        return start.model_copy(update={"history": tuple(history), "asked_at": asked_at})

    async def _stopped(self, handler: Any, partial: PartialTurn) -> None:
        """Stop the run and keep what was said, whoever cancels the one who waits for it."""
        stopping = asyncio.create_task(self._stop(handler, partial))
        self._stopping.add(stopping)
        stopping.add_done_callback(self._stopping.discard)
        await asyncio.shield(stopping)

    async def _stop(self, handler: Any, partial: PartialTurn) -> None:
        if handler is not None and not handler.is_done():
            await handler.cancel_run()
            with suppress(Exception):
                await asyncio.wait_for(handler, STOP_SECONDS)
        if not partial.finished:
            await self._store(partial.turn(Outcome.STOPPED), partial)

    async def _fail(
        self, partial: PartialTurn, error: Exception, services: Services
    ) -> list[EvidenceReady | AnswerDelta | TurnFinished]:
        reason = reason_of(error)
        log.error("a turn ended early (%s): %s", reason, loggable(error))
        log.debug("the reason", exc_info=error)
        said = AnswerDelta(text=("\n\n" if partial.text else "") + services.prompts.text(f"refusal.{reason}"))
        events = [EvidenceReady(chunks=()), said] if partial.lacks_evidence else [said]
        for event in events:
            partial.see(event)
        turn = partial.turn(Outcome.FAILED if reason in FAULTS else Outcome.REFUSED, reason)
        await self._store(turn, partial)
        return [*events, TurnFinished(turn=turn)]

    async def _store(self, turn: Turn, partial: PartialTurn) -> None:
        """Keep a turn that ended early and what it says of the person; if it cannot be kept, the turn still ends."""
        try:
            outbox = await to_remember(self.services, partial.question, "")
            await self.services.turns.save(turn, outbox and outbox.asked(partial.asked_at))
            self._remember_later(self.services, turn.key)
        except Exception as error:
            log.error("a turn that ended early could not be stored: %s", loggable(error))

    async def close(self) -> None:
        """Wait for turns that are being stopped; end what is read ahead; keep what was said, for a limited time."""
        await self._ahead.close()
        while self._stopping:
            await asyncio.wait(self._stopping)
        await self._experts.close()
        await self._memory_worker.close(seconds=self.settings.memory.drain_seconds)

    def _remember_later(self, services: Services, key: TurnKey) -> None:
        """Unless a `condensery worker` does it."""
        if key.user_id is not None and services.settings.memory.enabled and services.settings.memory.in_process:
            self._memory_worker.wake()

    async def write_memory(self) -> bool:
        """Do what is next to be done with one turn that waits to be remembered; False when none is due."""
        await self.refresh()  # an idle app would not hear that memory was switched off
        return await memory_writer(self.services).write_next()

    async def memory_settled(self, user_id: str, *, seconds: float = 60) -> bool:
        """Store what a user said, and wait for it; False when something still waits after `seconds`."""
        return await settled(self.write_memory, lambda: self.memory.waits(user_id), seconds=seconds)


@asynccontextmanager
async def open_app(settings: Settings | None = None, **overrides: Any) -> AsyncIterator[App]:
    """Open the app with `settings`, or with what `load_settings(**overrides)` finds; raises `ConfigError`."""
    async with open_services(settings or load_settings(**overrides)) as services:
        app = App(services)
        try:
            yield app
        finally:
            await app.close()
