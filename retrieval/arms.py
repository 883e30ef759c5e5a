"""An arm: one way to rank chunks. A retriever by itself, or a part of a fusion."""

from typing import Protocol

from condensery.retrieval.types import Chunk, Placement, Scope, ScoredChunk, SearchQuery, Trace


class Arm(Protocol):
    """Ranks chunks; `name` is what traces call it."""

    name: str

    async def rank(self, query: SearchQuery, *, scope: Scope, limit: int) -> list[tuple[Chunk, float]]:
        """Return at most `limit` chunks within `scope` with scores, best first."""
        ...


class Single:
    """A `Retriever` of one arm."""

    def __init__(self, arm: Arm) -> None:
        self._arm = arm

    async def search(self, query: SearchQuery, *, scope: Scope, limit: int) -> list[ScoredChunk]:
        """Return what the arm finds. Raises ConfigError for a bad filter key, ProviderError when it fails."""
        found = await self._arm.rank(query, scope=scope, limit=limit)
        return [
            ScoredChunk(chunk=chunk, score=score, trace=Trace(arms={self._arm.name: Placement(rank=rank, score=score)}))
            for rank, (chunk, score) in enumerate(found, 1)
        ]
