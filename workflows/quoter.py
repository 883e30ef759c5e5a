"""Finds the quotes of an extractive answer, with the sentences' stored vectors where there are any."""

from collections.abc import Awaitable, Callable, Sequence

import numpy as np
import numpy.typing as npt

from condensery.errors import ProviderError
from condensery.models.embedding import Embedder
from condensery.retrieval.bm25_index import TermWeights
from condensery.retrieval.types import ScoredChunk
from condensery.storage.sentences import SentenceStore
from condensery.workflows.extractive import Quote, Similarities, Similarity, best_quotes, parted
from condensery.workflows.stage import degraded

TermWeightsNow = Callable[[], Awaitable[TermWeights]]


class Quoter:
    """Quotes the sentences that best answer a standalone question."""

    def __init__(self, embedder: Embedder, sentences: SentenceStore, weights: TermWeightsNow) -> None:
        self._embedder = embedder
        self._sentences = sentences
        self._weights = weights

    async def quote(self, question: str, chunks: Sequence[ScoredChunk], *, told: str = "", limit: int) -> list[Quote]:
        """At most `limit` quotes from `chunks`, best first; judged by words alone when vectors cannot be had.

        `told`: what earlier answers said.
        """
        try:
            similar = await self._similarities(question, [found.chunk.id for found in chunks])
        except ProviderError as error:
            degraded(f"quotes judged by words alone: {error}")
            similar = {}
        weights = await self._weights()
        return best_quotes(question, chunks, weights.idf, similar, told=told, limit=limit)

    async def _similarities(self, question: str, chunk_ids: list[str]) -> Similarities:
        stored = await self._sentences.of(chunk_ids)
        subject, asked = parted(question)
        to_question, to_asked = await self._vector(question), await self._vector(asked)
        to_subject = await self._vector(subject) if subject else np.zeros_like(to_asked)
        return {
            (chunk_id, span): Similarity(*map(float, cosines))
            for chunk_id, found in stored.items()
            for span, seen, *cosines in zip(
                found.spans,
                map(np.any, found.vectors),
                found.vectors @ to_question,
                found.vectors @ to_asked,
                found.vectors @ to_subject,
                strict=True,
            )
            if seen  # the vector is zero where the chunk was too long for the model; words can still tell
        }

    async def _vector(self, text: str) -> npt.NDArray[np.float32]:
        return np.array(await self._embedder.embed_query(text), dtype=np.float32)
