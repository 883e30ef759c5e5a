"""Hybrid search: a dense and a lexical arm in parallel, fused by score or by rank."""

import asyncio
from collections.abc import Mapping, Sequence

from condensery.errors import CondenseryError, ConfigError, ProviderError
from condensery.retrieval.arms import Arm
from condensery.retrieval.fusion import fuse_ranks, fuse_scores
from condensery.retrieval.types import Chunk, Scope, ScoredChunk, SearchQuery
from condensery.settings import Retrieval
from condensery.tracing import degraded


class Hybrid:
    """A `Retriever` of several arms; one of weight 0 is not asked, one that fails is left out with a WARNING."""

    def __init__(self, arms: Sequence[Arm], weights: Mapping[str, float], settings: Retrieval) -> None:
        self._arms = [arm for arm in arms if weights.get(arm.name, 1.0) > 0]
        self._weights = weights
        self._settings = settings

    async def search(self, query: SearchQuery, *, scope: Scope, limit: int) -> list[ScoredChunk]:
        """Return the fused results. Raises ConfigError for a bad filter key, ProviderError when every arm fails."""
        candidates = max(limit, self._settings.candidates)
        searches = (arm.rank(query, scope=scope, limit=candidates) for arm in self._arms)
        outcomes = await asyncio.gather(*searches, return_exceptions=True)
        results: dict[str, list[tuple[Chunk, float]]] = {}
        failed: dict[str, Exception] = {}
        for arm, outcome in zip(self._arms, outcomes, strict=True):
            if isinstance(outcome, list):
                results[arm.name] = outcome
            elif isinstance(outcome, ConfigError) or not isinstance(outcome, Exception):
                raise outcome
            else:
                failed[arm.name] = outcome
        for name, error in failed.items():
            degraded(f"searched without the {name} arm: {_words(error)}", error=error)
        if not results:
            raise ProviderError(
                f"every arm of the search failed ({', '.join(arm.name for arm in self._arms)}); the log has the reasons"
            )
        if self._settings.fusion == "rank":
            return fuse_ranks(results, weights=self._weights, k=self._settings.rrf_k, limit=limit)
        least = {"semantic": self._settings.min_similarity}
        return fuse_scores(results, weights=self._weights, asked=candidates, least=least, limit=limit)


def _words(error: Exception) -> str:
    """Our own errors in their words, any other by its kind: a library's text may quote the question."""
    return str(error) if isinstance(error, CondenseryError) else type(error).__name__
