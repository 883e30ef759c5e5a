"""Opening what is remembered for a command, without a language model, and saying it in a table or as JSON."""

import json
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rich.table import Table

from condensery.errors import ConfigError
from condensery.memory.control import MemoryControl
from condensery.memory.days import is_over
from condensery.memory.types import Fact, Memory, MemoryScope, NewFact
from condensery.models.embedding import open_embedder
from condensery.retrieval.types import Frozen
from condensery.settings import Settings
from condensery.settings_live import LiveSettings
from condensery.storage.database import Database, open_database
from condensery.storage.memory import MemoryUsers
from condensery.storage.outbox import OutboxRepository
from condensery.storage.proposals import ProposalRepository
from condensery.storage.settings import SettingsRepository
from condensery.terminal.explain import cell
from condensery.terminal.options import Options
from condensery.terminal.output import out
from condensery.terminal.spinner import spinning


@dataclass(frozen=True)
class Remembering:
    """What a command works with: the memory's controls, and whom it is about where nobody is named."""

    control: MemoryControl
    settings: Settings

    def user(self, named: str | None) -> str:
        """The user of the command line, else that of the settings."""
        return self.settings.memory.user if named is None else named

    def organization(self, named: str | None) -> str:
        """The organization of the command line, else that of the settings; raises `ConfigError` when there is none."""
        organization = self.settings.memory.organization if named is None else named
        if organization is None:
            raise ConfigError("which organization? add --organization ID, or set memory.organization")
        return organization


class LazyMemory:
    """A memory that is opened when it is first needed, so that it can be switched off also when it cannot be opened."""

    def __init__(self, stack: AsyncExitStack, database: Database, settings: Settings) -> None:
        self._stack = stack
        self._database = database
        self._settings = settings
        self._memory: Memory | None = None

    async def recall(self, question: str, *, scope: MemoryScope, limit: int, threshold: float) -> list[Fact]:
        """See `Memory`, as for the others."""
        return await (await self._opened()).recall(question, scope=scope, limit=limit, threshold=threshold)

    async def remember(self, facts: Sequence[NewFact], *, scope: MemoryScope) -> list[Fact]:
        """Keep facts."""
        return await (await self._opened()).remember(facts, scope=scope)

    async def forget(
        self, *, scope: MemoryScope, fact_id: str | None = None, conversation_id: str | None = None
    ) -> int:
        """Erase facts."""
        return await (await self._opened()).forget(scope=scope, fact_id=fact_id, conversation_id=conversation_id)

    async def list(self, *, scope: MemoryScope, history: bool = False) -> list[Fact]:
        """Every fact."""
        return await (await self._opened()).list(scope=scope, history=history)

    async def _opened(self) -> Memory:
        if self._memory is None:
            from condensery.memory.mem0_store import open_memory

            embedder = open_embedder(self._settings.embeddings)
            self._stack.push_async_callback(embedder.close)
            opening = open_memory(self._database, embedder, self._settings.data_dir)
            self._memory = await self._stack.enter_async_context(opening)
        return self._memory


@asynccontextmanager
async def remembering(options: Options) -> AsyncIterator[Remembering]:
    """The controls over the database of the settings."""
    async with AsyncExitStack() as stack:
        with spinning("Opening…"):
            given = options.settings()
            database = await stack.enter_async_context(open_database(given))
            settings = await LiveSettings(given, SettingsRepository(database)).current()
        control = MemoryControl(
            LazyMemory(stack, database, settings),
            users=MemoryUsers(database),
            outbox=OutboxRepository(database),
            proposals=ProposalRepository(database),
            settings=settings.memory,
        )
        yield Remembering(control, settings)


def as_json(value: Any) -> str:
    """JSON on lines of its own; models by their fields."""
    return json.dumps(value, indent=2, ensure_ascii=False, default=_plain) + "\n"


def show_facts(facts: Iterable[Fact], *, history: bool) -> None:
    """A table of facts; with `history`, whether each still holds."""
    table = Table("id", "fact")
    table.columns[0].no_wrap = True
    for name in ("said", "state") if history else ("said",):
        table.add_column(name, no_wrap=True)
    for fact in facts:
        state = [state_of(fact)] if history else []
        table.add_row(fact.id, cell(fact.text), moment(fact.said_at), *state)
    out.print(table)


def state_of(fact: Fact) -> str:
    """Whether a fact still holds, in a word."""
    if fact.superseded_by or fact.superseded_at:
        return "superseded"
    return "expired" if is_over(fact.expires_on) else "holds"


def moment(when: datetime | None) -> str:
    """A time as this machine's clock shows it; nothing for none."""
    return when.astimezone().strftime("%Y-%m-%d %H:%M") if when else ""


def _plain(value: Any) -> Any:
    if isinstance(value, Frozen):
        return value.model_dump(mode="json", exclude={"score"} if isinstance(value, Fact) else None)
    raise TypeError(f"{type(value).__name__} is no JSON")
