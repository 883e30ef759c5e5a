"""Dense search: cosine similarity of embeddings, in Postgres."""

from condensery.models.embedding import Embedder
from condensery.retrieval.text import uniform
from condensery.retrieval.types import Scope, ScoredChunk, SearchQuery
from condensery.storage.chunks import ChunkStore


class Semantic:
    """A `Retriever` by meaning; `min_similarity` is the cosine below which a hit is none."""

    def __init__(self, embedder: Embedder, chunks: ChunkStore, min_similarity: float) -> None:
        self._embedder = embedder
        self._chunks = chunks
        self._min_similarity = min_similarity

    async def search(self, query: SearchQuery, *, scope: Scope, limit: int) -> list[ScoredChunk]:
        """Return the nearest chunks. Raises ConfigError for a bad filter key, ProviderError for a failed part."""
        found = await self._chunks.nearest(await self._vector(query), scope, limit)
        near = ((chunk, score) for chunk, score in found if score >= self._min_similarity)
        return [ScoredChunk.found_by("semantic", chunk, rank, score) for rank, (chunk, score) in enumerate(near, 1)]

    async def _vector(self, query: SearchQuery) -> list[float]:
        if query.passage is not None:
            return (await self._embedder.embed_documents([uniform(query.passage)]))[0]
        return await self._embedder.embed_query(uniform(query.text))
