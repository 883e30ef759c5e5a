"""Weighted reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009), as a pure function."""

from collections.abc import Mapping, Sequence

from condensery.retrieval.types import Chunk, Placement, ScoredChunk, Trace


def fuse(
    arms: Mapping[str, Sequence[tuple[Chunk, float]]],
    *,
    weights: Mapping[str, float] | None = None,
    k: int = 60,
    limit: int | None = None,
) -> list[ScoredChunk]:
    """Merge the arms' results, each best first, into one list: a chunk scores the sum of `weight / (k + rank)`.

    Every result's trace names its rank and score in each arm that found it. Ties go to the better single rank, then
    to source and position, so that the same input always gives the same list.
    """
    weights = weights or {}
    chunks = {chunk.id: chunk for results in arms.values() for chunk, _ in results}
    ranks: dict[str, dict[str, int]] = {id_: {} for id_ in chunks}
    for arm, results in arms.items():
        for rank, (chunk, _) in enumerate(results, 1):
            ranks[chunk.id].setdefault(arm, rank)
    scores = {id_: sum(weights.get(arm, 1.0) / (k + rank) for arm, rank in by.items()) for id_, by in ranks.items()}

    def order(id_: str) -> tuple[float, int, str, int, str]:
        return -scores[id_], min(ranks[id_].values()), chunks[id_].source, chunks[id_].start, id_

    def result(id_: str, place: int) -> ScoredChunk:
        found = {arm: Placement(rank=rank, score=arms[arm][rank - 1][1]) for arm, rank in ranks[id_].items()}
        trace = Trace(arms=found, fused=Placement(rank=place, score=scores[id_]))
        return ScoredChunk(chunk=chunks[id_], score=scores[id_], trace=trace)

    return [result(id_, place) for place, id_ in enumerate(sorted(scores, key=order)[:limit], 1)]
