"""Turns through the whole graph with recording doubles for search, turns and memory; nothing is loaded or stored."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

from condensery.agents.memory_writer import MemoryWriterAgent
from condensery.agents.rag import RAGAgent
from condensery.memory.extraction import open_extractor
from condensery.memory.recalling import Recaller
from condensery.memory.types import Fact, MemoryScope, NewFact
from condensery.models.chat import ChatModel
from condensery.models.pool import ModelPool
from condensery.prompts.loader import prompts_for
from condensery.retrieval.types import Scope, ScoredChunk, SearchQuery
from condensery.services import Services
from condensery.settings import load_settings
from condensery.storage.turns import LONG_MESSAGE
from condensery.testing import ScriptedLLM
from condensery.workflows.events import ChatStart, TurnFinished
from condensery.workflows.extractive import Quote, Similarities, best_quotes
from condensery.workflows.turn import Exchange, OutboxEntry, Outcome, Turn, TurnKey, TurnOptions

WINDOW = 65_536
"""Tokens; a message with a whole document in it fits."""


@dataclass
class RecordingMemory:
    """Recalls `facts` whatever the question; keeps what it was asked for and what it was given to remember."""

    facts: list[Fact] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)
    stored: list[NewFact] = field(default_factory=list)

    async def recall(self, question: str, *, scope: MemoryScope, limit: int, threshold: float) -> list[Fact]:
        self.queries.append(question)
        return self.facts

    async def remember(self, facts: Sequence[NewFact], *, scope: MemoryScope) -> list[Fact]:
        self.stored += facts
        return []

    ready = True


class Recorded:
    """A conversation of one user; `chunks` are what every search finds. With `llm` answers and facts are its own."""

    def __init__(
        self,
        chunks: Sequence[ScoredChunk],
        facts: Sequence[Fact] = (),
        *,
        llm: ScriptedLLM | None = None,
        locale: str = "en",
        **sections: Any,
    ) -> None:
        self.chunks = list(chunks)
        self.memory = RecordingMemory(list(facts))
        self.searched: list[str] = []
        self.turns: list[Turn] = []
        self.outbox: list[OutboxEntry] = []
        self.history: list[Exchange] = []
        self.llm = llm
        extraction = {"extraction": "llm" if llm else "rules"}
        self.settings = load_settings(
            locale=locale, **{"memory": extraction, "limits": {"input_tokens": WINDOW}, **sections}
        )
        self.prompts = prompts_for(locale)
        self.services = cast(Services, _Doubled(self._services(), self))

    def _services(self) -> Services:
        self.model = ChatModel(self.llm, name="scripted", context_window=WINDOW) if self.llm else None
        return Services(
            settings=self.settings,
            models=ModelPool(self.settings.llm, self.model),
            database=cast(Any, None),
            embedder=cast(Any, None),
            model=self.model,
            turns=cast(Any, self),
            documents=cast(Any, SimpleNamespace(sentences=None)),
            retrieval=cast(Any, SimpleNamespace()),
            prompts=self.prompts,
            memory=cast(Any, self.memory),
        )

    async def search(self, query: SearchQuery, *, scope: Scope, limit: int) -> list[ScoredChunk]:
        self.searched += [query.text, query.passage or "", *(probe.text for probe in query.probes)]
        return self.chunks

    async def quote(self, question: str, chunks: Sequence[ScoredChunk], *, told: str = "", limit: int) -> list[Quote]:
        return best_quotes(question, chunks, lambda term: 1.0, {}, told=told, limit=limit)

    async def similarities(self, question: str, chunks: Sequence[ScoredChunk]) -> Similarities:
        self.searched.append(question)
        return {}

    async def weights(self) -> Any:
        return SimpleNamespace(idf=lambda term: 1.0)

    async def save(self, turn: Turn, outbox: OutboxEntry | None = None) -> None:
        self.turns.append(turn)
        self.outbox += [outbox] if outbox else []

    async def say(
        self, message: str, *, remember: bool = True, start: type[ChatStart] = ChatStart, **options: Any
    ) -> Turn:
        """One turn after those before it; its facts are found and stored at once."""
        key = TurnKey(turn_id=str(len(self.turns)), conversation_id="c", user_id="u", organization_id="o")
        waiting = len(self.outbox)
        finished: TurnFinished = await RAGAgent(self.services).run(
            start_event=start(
                key=key, message=message, history=tuple(self.history), options=TurnOptions.model_validate(options)
            )
        )
        self.history.append(as_history(finished.turn))
        for entry in self.outbox[waiting:] if remember else ():
            await self.write(entry)
        return finished.turn

    async def write(self, entry: OutboxEntry) -> None:
        """What a worker does with a row."""
        extractor = open_extractor(self.settings.memory, self.model, self.prompts)
        writer = MemoryWriterAgent(extractor, seconds=60)
        found = await writer.find(str(entry.payload["question"]), str(entry.payload["answer"]))
        await self.memory.remember(found, scope=MemoryScope(kind="user", id="u"))

    @property
    def facts(self) -> list[str]:
        """What was stored, as text."""
        return [fact.text for fact in self.memory.stored]

    @property
    def asked_for_facts(self) -> list[str]:
        """Every prompt that asked the model for facts."""
        return [call.text for call in (self.llm.calls if self.llm else ()) if "response_format" in call.kwargs]


class _Doubled:
    """The services with what needs files or a database replaced."""

    def __init__(self, made: Services, recorded: Recorded) -> None:
        self._made = made
        self._recorded = recorded
        self.quoter = recorded
        self.memory_users = SimpleNamespace(enabled=_yes)
        self.recaller = Recaller(cast(Any, recorded.memory), _yes, made.settings.memory)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._made, name)

    def retriever(self, name: str) -> Recorded:
        return self._recorded


async def _yes(user_id: str) -> bool:
    return True


def as_history(turn: Turn) -> Exchange:
    """A stored turn as later turns are given it; see `storage/turns.py`."""
    long = len(turn.message) > LONG_MESSAGE
    shortened = long and turn.question is not None
    return Exchange(
        message=turn.question if shortened and turn.question else turn.message,
        answer=turn.answer,
        evidenced=turn.outcome in (Outcome.ANSWERED, Outcome.STOPPED) and not long,
        quoted=turn.answer_mode == "extractive",
        shortened=shortened,
    )
