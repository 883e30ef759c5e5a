"""Dense search: cosine similarity of embeddings, in Postgres."""

from condensery.models.embedding import Embedder
from condensery.retrieval.text import uniform
from condensery.retrieval.types import Chunk, Scope, SearchQuery
from condensery.storage.chunks import ChunkStore


class Semantic:
    """An `Arm` by meaning; a chunk under `min_similarity`, a cosine, is no hit."""

    name = "semantic"

    def __init__(self, embedder: Embedder, chunks: ChunkStore, min_similarity: float) -> None:
        self._embedder = embedder
        self._chunks = chunks
        self._min_similarity = min_similarity

    async def rank(self, query: SearchQuery, *, scope: Scope, limit: int) -> list[tuple[Chunk, float]]:
        """Return the nearest chunks. Raises ConfigError for a bad filter key, ProviderError for a failed part."""
        if not (query.passage or query.text).strip():
            return []
        found = await self._chunks.nearest(await self._vector(query), scope, limit)
        return [(chunk, cosine) for chunk, cosine in found if cosine >= self._min_similarity]

    async def _vector(self, query: SearchQuery) -> list[float]:
        if query.passage is not None:
            return (await self._embedder.embed_documents([uniform(query.passage)]))[0]
        return await self._embedder.embed_query(uniform(query.text))
