"""Memory on mem0: facts of users and organizations, kept by mem0 in a table of the same Postgres.

See `docs/decisions/memory-on-mem0.md` for what is left to mem0, and what is not.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from condensery.errors import ConfigError, ProviderError
from condensery.memory.days import today
from condensery.memory.mem0_parts import EmbedderBridge, embedded, open_mem0, open_pool
from condensery.memory.mem0_rows import fact_of, holding, owner_of, payload_of, superseding
from condensery.memory.placing import Place, place_of, slots_to_compare
from condensery.memory.stored import StoredFacts
from condensery.memory.types import Fact, MemoryScope, NewFact
from condensery.models.embedding import Embedder
from condensery.models.failures import provider_errors
from condensery.retrieval.text import is_blank
from condensery.storage.database import Database
from condensery.storage.memories import MemoryTable
from condensery.storage.text import clean_text

log = logging.getLogger(__name__)

SIMILAR = 10
"""Facts that a new one is compared with, beside all of its slot."""

SLOT_LIMIT = 100


class Mem0Memory(StoredFacts):
    """A `Memory` whose facts mem0 stores and searches. Open it with `open_memory`.

    mem0 is imported and opened when a scope that has facts is asked for the first time, or gets its first one.
    """

    def __init__(self, table: MemoryTable, embedder: Embedder, data_dir: Path) -> None:
        super().__init__(table, data_dir)
        self._embedder = embedder
        self._data_dir = data_dir
        self._opening = asyncio.Lock()
        self._mem0: Any = None
        self._pool: Any = None

    @property
    def ready(self) -> bool:
        """Whether mem0 is open; the embedding model is loaded then, too."""
        return self._mem0 is not None

    async def recall(self, question: str, *, scope: MemoryScope, limit: int, threshold: float) -> list[Fact]:
        """At most `limit` facts that hold today and whose cosine to `question` is at least `threshold`, best first."""
        if limit <= 0 or is_blank(question) or not await self._table.has_rows(owner_of(scope)):
            return []
        vector = await self._embedder.embed_query(question)
        found = await self._nearest(vector, scope, limit)
        return [fact for fact in found if (fact.score or 0.0) >= threshold]

    async def remember(self, facts: Sequence[NewFact], *, scope: MemoryScope) -> list[Fact]:
        """Keep `facts` and return those that are new; writers of one scope take turns, in whichever process."""
        clean = [fact.model_copy(update={"text": clean_text(fact.text)}) for fact in facts]
        clean = [fact for fact in clean if not is_blank(fact.text)]
        if not clean:
            return []
        async with self.locked(scope):
            await self._table.has_rows(owner_of(scope))  # the vectors of another model must not come among the others
            vectors = await self._embedder.embed_documents([fact.text for fact in clean])
            kept = [await self._keep(fact, vector, scope) for fact, vector in zip(clean, vectors, strict=True)]
        return [fact for fact in kept if fact is not None]

    async def warm(self) -> None:
        """Open mem0 now when anybody has a fact, so that the next recall need not wait for it."""
        if self._mem0 is None and not await self._table.is_empty():
            await asyncio.gather(self._opened(), self._embedder.embed_query("warm"))

    async def close(self) -> None:
        """Close mem0 and its connections."""
        async with self._opening:
            mem0, self._mem0 = self._mem0, None
            pool, self._pool = self._pool, None
            if mem0 is not None:
                await asyncio.to_thread(mem0.close)
            if pool is not None:
                await asyncio.to_thread(pool.close)

    async def _opened(self) -> Any:
        """mem0, opened once; a caller that gives up waiting leaves it to be opened for the next."""
        return self._mem0 or await asyncio.shield(asyncio.ensure_future(self._open()))

    async def _open(self) -> Any:
        async with self._opening:
            if self._mem0 is None:
                bridge = EmbedderBridge(self._embedder)
                with provider_errors("opening mem0"):
                    self._pool = self._pool or await asyncio.to_thread(open_pool, self._table.db.url)
                    dimension = self._embedder.dimension
                    self._mem0 = await asyncio.to_thread(open_mem0, self._data_dir, bridge, dimension, self._pool)
            return self._mem0

    async def _nearest(self, vector: Sequence[float], scope: MemoryScope, limit: int) -> Sequence[Fact]:
        store = (await self._opened()).vector_store
        with provider_errors("the memory"):
            rows = await asyncio.to_thread(store.search, "", list(vector), limit, holding(scope, today()))
        return [fact_of(row.id, row.payload, row.score) for row in rows]

    async def _rows_with(self, filters: dict[str, Any], limit: int) -> Sequence[Fact]:
        store = (await self._opened()).vector_store
        with provider_errors("the memory"):
            rows = (await asyncio.to_thread(store.list, filters, limit))[0]
        return [fact_of(row.id, row.payload) for row in rows]

    async def _keep(self, new: NewFact, vector: Sequence[float], scope: MemoryScope) -> Fact | None:
        """Store one fact, or find that it is there. What a killed process left half done is completed."""
        payload = payload_of(new, scope)
        again = next(iter(await self._rows_with({"key": payload["key"]}, 1)), None)
        if again is not None and again.superseded_by is not None:
            return None
        similar = await self._similar(new, vector, scope)
        place = place_of(new, [fact for fact in similar if again is None or fact.id != again.id])
        if again is not None:
            await self._move(again, place)
            return None
        if place.known:
            return None
        id = await self._add(new, vector, payload, scope)
        return None if id is None else await self._move(fact_of(id, {**payload, "data": new.text}), place)

    async def _move(self, fact: Fact, place: Place) -> Fact:
        """Supersede what `fact` takes the place of, or `fact` itself; return it as it is then."""
        if place.newer is not None:
            return await self._supersede(fact, place.newer)
        for old in place.older:
            await self._supersede(old, fact)
        return fact

    async def _similar(self, new: NewFact, vector: Sequence[float], scope: MemoryScope) -> Sequence[Fact]:
        found = {fact.id: fact for fact in await self._nearest(vector, scope, SIMILAR)}
        if slots := slots_to_compare(new):
            same = {**holding(scope, today()), "slot": {"in": [clean_text(slot) for slot in slots]}}
            found = {fact.id: fact for fact in await self._rows_with(same, SLOT_LIMIT)} | found
        return list(found.values())

    async def _add(
        self, new: NewFact, vector: Sequence[float], payload: dict[str, Any], scope: MemoryScope
    ) -> str | None:
        """The id of the new fact; None when it was stored meanwhile, by a writer that took no turn."""
        from psycopg.errors import UniqueViolation

        owner = dict([owner_of(scope)])
        token = embedded.set({new.text: vector})
        try:
            with provider_errors("storing a fact"):
                mem0 = await self._opened()
                added = await mem0.add(new.text, **owner, metadata=payload, expiration_date=new.expires_on, infer=False)
        except ProviderError as error:
            if isinstance(error.__cause__, UniqueViolation):
                return None
            raise
        finally:
            embedded.reset(token)
        return str(added["results"][0]["id"])

    async def _supersede(self, old: Fact, by: Fact) -> Fact:
        with provider_errors("superseding a fact"):
            await (await self._opened()).update(old.id, metadata=superseding(by.id, by.said_at))
        return old.model_copy(update={"superseded_by": by.id, "superseded_at": by.said_at})


@asynccontextmanager
async def open_memory(
    db: Database, embedder: Embedder, data_dir: Path, *, needed: bool = True
) -> AsyncIterator[Mem0Memory]:
    """The memory of this database; its table is made when there is none. mem0 itself is opened when it is needed.

    Raises `ConfigError` when facts are there that another embedding model embedded; where memory is not `needed`, this
    is only a warning, and recalling raises it.
    """
    table = MemoryTable(db, model=embedder.name, dimension=embedder.dimension)
    try:
        await table.open()
    except ConfigError as error:
        if needed:
            raise
        log.warning("memory is switched off, and could not be used: %s", error)
    memory = Mem0Memory(table, embedder, data_dir)
    try:
        await memory.erase_expired()
        await memory.purge()
    except ProviderError as error:  # what nothing reads any more is no reason to answer nothing
        log.warning("expired facts, or mem0's notes of facts that are gone, could not be erased: %s", error)
    try:
        yield memory
    finally:
        await memory.close()
