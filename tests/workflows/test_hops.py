"""Further searches: when there is one, what it is for, and what becomes of the results."""

import pytest

from condensery.retrieval.types import Chunk, ScoredChunk
from condensery.workflows.events import CondensedQuestion, ContextAccepted, ContextRejected, Ranked, SearchRequest
from condensery.workflows.hops import HOP_ADDS, Verdict, asks_again, merged, next_move
from condensery.workflows.turn import TurnKey

QUESTION = CondensedQuestion(
    key=TurnKey(turn_id="t", conversation_id="c"),
    question="When does it open, and what is a dog?",
    max_chars=512,
    engine="simple",
    condensed=False,
)


def results(ids: str) -> tuple[ScoredChunk, ...]:
    return tuple(ScoredChunk(chunk=Chunk(id=id_, text=id_, source=f"{id_}.md"), score=1.0) for id_ in ids)


def ranked(*, hop: int = 1, found: str = "", asked: tuple[str, ...] = ()) -> Ranked:
    query = QUESTION.question if hop == 1 else "fares of dogs"
    request = SearchRequest(question=QUESTION, query=query, hop=hop, found=results(found), asked=asked)
    return Ranked(request=request, method="hybrid", chunks=results("ab"))


def ids(found: tuple[ScoredChunk, ...]) -> str:
    return "".join(each.chunk.id for each in found)


def test_another_query_is_searched_for_with_what_was_found_in_hand() -> None:
    move = next_move(ranked(), results("ab"), Verdict(sufficient=False, next_query="fares of dogs"), max_hops=2)
    assert isinstance(move, SearchRequest)
    assert (move.query, move.hop, ids(move.found), move.probes) == ("fares of dogs", 2, "ab", ())
    assert move.asked == (QUESTION.question,)


@pytest.mark.parametrize("query", ["", "  ", "?!", "dog, and when does it OPEN", "fares of dogs", "Dogs: the fare"])
def test_a_hop_that_asks_for_the_same_again_or_for_nothing_is_not_made(query: str) -> None:
    last = ranked(hop=2, asked=(QUESTION.question,))
    verdict = Verdict(sufficient=False, missing=("dog",), next_query=query)
    move = next_move(last, results("ab"), verdict, max_hops=5)
    assert isinstance(move, ContextRejected)
    assert (ids(move.chunks), move.missing) == ("ab", ("dog",))


def test_there_are_at_most_so_many_hops() -> None:
    verdict = Verdict(sufficient=True, next_query="something else entirely")
    assert isinstance(next_move(ranked(hop=2), results("a"), verdict, max_hops=2), ContextAccepted)
    assert isinstance(next_move(ranked(hop=2), results("a"), verdict, max_hops=3), SearchRequest)


def test_what_is_accepted_in_doubt_carries_what_is_missing() -> None:
    sure = next_move(ranked(), results("a"), Verdict(sufficient=True, missing=("x",)), max_hops=1)
    doubtful = next_move(ranked(), results("a"), Verdict(sufficient=True, doubtful=True, missing=("x",)), max_hops=1)
    assert isinstance(sure, ContextAccepted)
    assert sure.doubt is None
    assert isinstance(doubtful, ContextAccepted)
    assert doubtful.doubt == ("x",)


def test_results_of_hops_are_merged_without_repeats_the_best_of_the_new_third() -> None:
    assert ids(merged((), results("abc"))) == "abc"
    assert ids(merged(results("abcd"), results("bxcyz"))) == "abxcdyz"
    assert ids(merged(results("abcd"), results("dcba"))) == "abcd"
    assert len(merged(results("a"), results("uvwxyz"))) == 1 + HOP_ADDS


def test_texts_in_scripts_without_spaces_are_compared_too() -> None:
    assert asks_again("営業時間", ("営業時間",))
    assert not asks_again("営業時間", ("料金",))
