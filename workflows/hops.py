"""A further search when one did not suffice: what for, and what becomes of the results. Pure functions, no model."""

from collections.abc import Iterable, Sequence

from condensery.retrieval.tokenize import terms
from condensery.retrieval.types import Frozen, ScoredChunk
from condensery.workflows.events import ContextAccepted, ContextRejected, Ranked, SearchRequest

HOP_ADDS = 3
"""Chunks that a later search adds at most; the first of them comes third, so that it is among what is always read."""
THIRD = 2


class Verdict(Frozen):
    """Whether evidence suffices for a question; what it says nothing about; what to search for to find that.

    `doubtful`: it is accepted, but the answer says that it may not be one.
    """

    sufficient: bool
    doubtful: bool = False
    missing: tuple[str, ...] = ()
    next_query: str = ""


def merged(earlier: Sequence[ScoredChunk], new: Sequence[ScoredChunk]) -> tuple[ScoredChunk, ...]:
    """What all searches brought so far, each chunk once."""
    known = {found.chunk.id for found in earlier}
    added = [found for found in new if found.chunk.id not in known]
    if not earlier:
        return tuple(added)
    added = added[:HOP_ADDS]
    return (*earlier[:THIRD], *added[:1], *earlier[THIRD:], *added[1:])


def next_move(
    ranked: Ranked, found: tuple[ScoredChunk, ...], verdict: Verdict, max_hops: int
) -> ContextAccepted | ContextRejected | SearchRequest:
    """Search again while there is something else to search for; else accept or reject what was found."""
    request = ranked.request
    if _goes_on(request, verdict.next_query, max_hops):
        return SearchRequest(
            question=request.question,
            query=verdict.next_query,
            hop=request.hop + 1,
            found=found,
            asked=(*request.asked, request.query),
        )
    question, method, missing = request.question, ranked.method, verdict.missing
    if not verdict.sufficient:
        return ContextRejected(question=question, method=method, chunks=found, missing=missing)
    doubt = missing if verdict.doubtful else None
    return ContextAccepted(question=question, method=method, chunks=found, doubt=doubt)


def _goes_on(request: SearchRequest, query: str, max_hops: int) -> bool:
    said = (request.question.question, *request.asked, request.query)
    return bool(query) and request.hop < max_hops and not asks_again(query, said)


def asks_again(query: str, earlier: Iterable[str]) -> bool:
    """Whether `query` has the terms of one of the `earlier` ones, in whatever order, or none at all."""
    wanted = _terms(query)
    return not wanted or any(wanted == _terms(text) for text in earlier)


def _terms(text: str) -> frozenset[str]:
    return frozenset(terms(text))
