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

KEPT = 32
"""Comparisons that are kept, so that what judged the evidence need not be computed again to quote from it."""

TermWeightsNow = Callable[[], Awaitable[TermWeights]]


class Quoter:
    """Quotes the sentences that best answer a standalone question."""

    def __init__(self, embedder: Embedder, sentences: SentenceStore, weights: TermWeightsNow) -> None:
        self._embedder = embedder
        self._sentences = sentences
        self._weights = weights
        self._judged: dict[tuple[str, tuple[str, ...]], Similarities] = {}

    async def quote(self, question: str, chunks: Sequence[ScoredChunk], *, told: str = "", limit: int) -> list[Quote]:
        """At most `limit` quotes from `chunks`, best first; judged by words alone when vectors cannot be had.

        `told`: what earlier answers said.
        """
        try:
            similar = await self.similarities(question, chunks)
        except ProviderError as error:
            degraded(f"quotes judged by words alone: {error}")
            similar = {}
        weights = await self.weights()
        return best_quotes(question, chunks, weights.idf, similar, told=told, limit=limit)

    async def weights(self) -> TermWeights:
        """How rare each term is in the documents now."""
        return await self._weights()

    async def similarities(self, question: str, chunks: Sequence[ScoredChunk]) -> Similarities:
        """How near the stored sentences of `chunks` are to `question`; raises `ProviderError`."""
        key = (question, tuple(found.chunk.id for found in chunks))
        if key not in self._judged:
            self._judged[key] = await self._compared(question, key[1])
            while len(self._judged) > KEPT:
                del self._judged[next(iter(self._judged))]
        return self._judged[key]

    async def _compared(self, question: str, chunk_ids: Sequence[str]) -> Similarities:
        stored = await self._sentences.of(list(chunk_ids))
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
