"""Dense search: cosine similarity of embeddings, in Postgres."""

import asyncio

import numpy as np

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
        vector = await self._vector(query)
        if vector is None:
            return []
        found = await self._chunks.nearest(vector, scope, limit)
        return [(chunk, cosine) for chunk, cosine in found if cosine >= self._min_similarity]

    async def _vector(self, query: SearchQuery) -> list[float] | None:
        """The unit vector to search with, None when there is no text to embed."""
        if query.passage is not None and query.passage.strip():
            return (await self._embedder.embed_documents([uniform(query.passage)]))[0]
        probes = [probe for probe in query.weighed if probe.dense > 0 and probe.text.strip()]
        if not probes:
            return None
        vectors = await asyncio.gather(*(self._embedder.embed_query(uniform(probe.text)) for probe in probes))
        if len(vectors) == 1:
            return vectors[0]
        mixed = np.average(vectors, axis=0, weights=[probe.dense for probe in probes])
        length = float(np.linalg.norm(mixed))
        return (mixed / length).tolist() if length else vectors[0]
