"""Two ways to merge the results of several arms into one list, as pure functions.

By rank: weighted reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009). By score: the weighted sum of the
arms' scores (a convex combination: Bruch, Gai and Ingber, TOIS 2023), which keeps how much better one result is than
the next.
"""

from collections.abc import Mapping, Sequence

from condensery.retrieval.types import Chunk, Placement, ScoredChunk, Trace

Results = Sequence[tuple[Chunk, float]]


def fuse_ranks(
    arms: Mapping[str, Results],
    *,
    weights: Mapping[str, float] | None = None,
    k: int = 60,
    limit: int | None = None,
) -> list[ScoredChunk]:
    """Merge the arms' results, each best first: a chunk scores the sum of `weight / (k + rank)`.

    Every result's trace names its rank and score in each arm that found it. Ties go to the better single rank, then
    to source and position, so that the same input always gives the same list.
    """
    weights = weights or {}
    placed = _placed(arms)
    return _merged(
        arms,
        placed,
        {
            id_: sum(weights.get(arm, 1.0) / (k + place.rank) for arm, place in found.items())
            for id_, found in placed.items()
        },
        limit,
    )


def fuse_scores(
    arms: Mapping[str, Results],
    *,
    weights: Mapping[str, float] | None = None,
    asked: int,
    least: Mapping[str, float] | None = None,
    limit: int | None = None,
) -> list[ScoredChunk]:
    """Merge the arms' results, each best first: a chunk scores the sum of `weight * score`.

    A chunk that an arm did not find counts there as the last of `asked` results when the arm gave so many, else as 0.
    One that a single arm found, with a score under that arm's `least`, is no result. Traces and ties as in
    `fuse_ranks`.
    """
    weights, least = weights or {}, least or {}
    placed = {
        id_: found
        for id_, found in _placed(arms).items()
        if len(found) > 1 or all(place.score >= least.get(arm, place.score) for arm, place in found.items())
    }
    missing = {arm: results[-1][1] if len(results) >= asked else 0.0 for arm, results in arms.items()}
    scores = {
        id_: sum(
            weights.get(arm, 1.0) * (found[arm].score if arm in found else otherwise)
            for arm, otherwise in missing.items()
        )
        for id_, found in placed.items()
    }
    return _merged(arms, placed, scores, limit)


def _placed(arms: Mapping[str, Results]) -> dict[str, dict[str, Placement]]:
    """Where each arm placed each chunk, by chunk id and arm."""
    placed: dict[str, dict[str, Placement]] = {}
    for arm, results in arms.items():
        for rank, (chunk, score) in enumerate(results, 1):
            placed.setdefault(chunk.id, {}).setdefault(arm, Placement(rank=rank, score=score))
    return placed


def _merged(
    arms: Mapping[str, Results],
    placed: Mapping[str, dict[str, Placement]],
    scores: Mapping[str, float],
    limit: int | None,
) -> list[ScoredChunk]:
    chunks = {chunk.id: chunk for results in arms.values() for chunk, _ in results}

    def order(id_: str) -> tuple[float, int, str, int, str]:
        best = min(place.rank for place in placed[id_].values())
        return -scores[id_], best, chunks[id_].source, chunks[id_].start, id_

    def result(id_: str, place: int) -> ScoredChunk:
        trace = Trace(arms=placed[id_], fused=Placement(rank=place, score=scores[id_]))
        return ScoredChunk(chunk=chunks[id_], score=scores[id_], trace=trace)

    return [result(id_, place) for place, id_ in enumerate(sorted(scores, key=order)[:limit], 1)]
