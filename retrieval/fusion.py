"""Weighted reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009), as a pure function."""

from collections.abc import Mapping, Sequence

from condensery.retrieval.types import Chunk, Placement, ScoredChunk, Trace


def fuse(
    arms: Mapping[str, Sequence[ScoredChunk]], *, weights: Mapping[str, float] | None = None, k: int = 60
) -> list[ScoredChunk]:
    """Merge result lists, each best first, into one: a chunk scores the sum of `weight / (k + rank)` over the arms.

    Every result's trace names its rank and score in each arm that found it. Ties go to the better single rank, then
    to the order of source and position, so that the same input always gives the same list.
    """
    chunks: dict[str, Chunk] = {}
    placements: dict[str, dict[str, Placement]] = {}
    for arm, results in arms.items():
        for rank, result in enumerate(results, 1):
            chunks[result.chunk.id] = result.chunk
            placements.setdefault(result.chunk.id, {})[arm] = Placement(rank=rank, score=result.score)
    weights = weights or {}
    scores = {id_: sum(weights.get(arm, 1.0) / (k + at.rank) for arm, at in by_arm.items())
              for id_, by_arm in placements.items()}  # fmt: skip

    def order(id_: str) -> tuple[float, int, str, int, str]:
        best = min(placement.rank for placement in placements[id_].values())
        return -scores[id_], best, chunks[id_].source, chunks[id_].start, id_

    return [
        ScoredChunk(
            chunk=chunks[id_],
            score=scores[id_],
            trace=Trace(arms=placements[id_], fused=Placement(rank=rank, score=scores[id_])),
        )
        for rank, id_ in enumerate(sorted(scores, key=order), 1)
    ]
