"""A memory for commands: the embedding model and mem0 are opened when something is searched for, or stored."""

from builtins import list as List
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from condensery.errors import ConfigError
from condensery.memory.types import Fact, Memory, MemoryScope, NewFact
from condensery.models.embedding import open_embedder
from condensery.settings import Settings
from condensery.storage.database import Database
from condensery.storage.memories import MemoryTable


class LazyMemory:
    """What is listed and erased needs no embedding model: all of that works where none can be opened, too.

    `unsearched` says why nothing could be searched for, once that was to be done.
    """

    def __init__(self, stack: AsyncExitStack, database: Database, settings: Settings) -> None:
        self._stack = stack
        self._database = database
        self._settings = settings
        self._memory: Memory | None = None
        self.unsearched: ConfigError | None = None
        from condensery.memory.stored import StoredFacts

        self._table = MemoryTable(database, model="", dimension=0)
        self._stored = StoredFacts(self._table, settings.data_dir)

    async def recall(self, question: str, *, scope: MemoryScope, limit: int, threshold: float) -> List[Fact]:
        """What a search finds; where none is possible, the facts that are stored in these very words."""
        try:
            memory = await self._opened()
            return await memory.recall(question, scope=scope, limit=limit, threshold=threshold)
        except ConfigError as error:
            self.unsearched = error
            return [fact for fact in await self.list(scope=scope) if fact.text == question][:limit]

    async def remember(self, facts: Sequence[NewFact], *, scope: MemoryScope) -> List[Fact]:
        """Keep facts; raises `ConfigError` when the embedding model cannot be opened."""
        return await (await self._opened()).remember(facts, scope=scope)

    async def forget(
        self, *, scope: MemoryScope, fact_id: str | None = None, conversation_id: str | None = None
    ) -> int:
        """Erase facts."""
        if not await self._table.exists():
            return 0
        return await self._stored.forget(scope=scope, fact_id=fact_id, conversation_id=conversation_id)

    async def list(self, *, scope: MemoryScope, history: bool = False) -> List[Fact]:
        """Every fact."""
        return await self._stored.list(scope=scope, history=history) if await self._table.exists() else []

    @asynccontextmanager
    async def locked(self, scope: MemoryScope) -> AsyncIterator[None]:
        """See `Memory`."""
        async with self._stored.locked(scope):
            yield

    async def _opened(self) -> Memory:
        if self._memory is None:
            from condensery.memory.mem0_store import open_memory

            embedder = open_embedder(self._settings.embeddings)
            self._stack.push_async_callback(embedder.close)
            opening = open_memory(self._database, embedder, self._settings.data_dir)
            self._memory = await self._stack.enter_async_context(opening)
        return self._memory
