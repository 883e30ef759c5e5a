"""Lexical search: BM25 over the chunks in the database, kept in memory and rebuilt when they change."""

import asyncio

from condensery.retrieval.bm25_index import Bm25Index
from condensery.retrieval.types import Chunk, Scope, SearchQuery
from condensery.storage.documents import DocumentRepository
from condensery.storage.scope import checked_scope


class Bm25Cache:
    """The index of what the database holds now, shared by every retriever of the process."""

    def __init__(self, documents: DocumentRepository) -> None:
        self._documents = documents
        self._index = Bm25Index((), generation=-1)
        self._build: tuple[int, asyncio.Task[Bm25Index]] | None = None

    async def current(self) -> Bm25Index:
        """Return an index no older than this call. Raises ProviderError when the database fails.

        One build runs at a time, off the loop; those who need it wait for it together, and whoever stops waiting does
        not stop it.
        """
        generation = await self._documents.generation()
        while self._index.generation < generation:
            if self._build is None or self._build[1].done():
                self._build = generation, asyncio.create_task(self._rebuild())
            await asyncio.shield(self._build[1])
        return self._index

    async def close(self) -> None:
        """End a build that runs, before the database it reads from closes."""
        if self._build is not None:
            self._build[1].cancel()
            await asyncio.gather(self._build[1], return_exceptions=True)

    async def _rebuild(self) -> Bm25Index:
        # Read before the chunks: an index may be newer than its number says, never older.
        generation = await self._documents.generation()
        chunks = await self._documents.all_chunks()
        self._index = await asyncio.to_thread(Bm25Index, chunks, generation, self._index)
        return self._index


class Bm25:
    """An `Arm` by words; a chunk that shares no term with the question is never a hit."""

    name = "bm25"

    def __init__(self, cache: Bm25Cache) -> None:
        self._cache = cache

    async def rank(self, query: SearchQuery, *, scope: Scope, limit: int) -> list[tuple[Chunk, float]]:
        """Return the best matches. Raises ConfigError for a bad filter key, ProviderError when the database fails."""
        scope = checked_scope(scope)
        return (await self._cache.current()).search(query.weighed, scope, limit)
