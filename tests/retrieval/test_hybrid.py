"""Fusion by rank, and what a failing arm means."""

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condensery.errors import ConfigError, ProviderError
from condensery.retrieval.fusion import fuse_ranks, fuse_scores
from condensery.retrieval.hybrid import Hybrid
from condensery.retrieval.types import Chunk, Placement, Scope, SearchQuery
from condensery.settings import Retrieval
from condensery.tracing import degraded, noting

from .conftest import Library

Ranking = list[tuple[Chunk, float]]
CHUNKS = {name: Chunk(id=name, text=name, source=name) for name in "abcdefgh"}
rankings = st.permutations(sorted(CHUNKS)).flatmap(lambda order: st.integers(0, 8).map(lambda n: "".join(order[:n])))


def ranked(names: str) -> Ranking:
    return [(CHUNKS[name], 10.0 - place) for place, name in enumerate(names)]


def order(**arms: str) -> str:
    return "".join(result.chunk.id for result in fuse_ranks({arm: ranked(names) for arm, names in arms.items()}))


def test_what_both_arms_rank_high_comes_first() -> None:
    assert order(semantic="abc", bm25="bda") == "bacd" or order(semantic="abc", bm25="bda") == "badc"
    assert order(semantic="ab", bm25="ba") == "ab"


def test_the_score_is_the_sum_of_reciprocal_ranks() -> None:
    (first, *_) = fuse_ranks({"semantic": ranked("ab"), "bm25": ranked("ca")}, weights={"bm25": 2.0}, k=10)
    assert first.chunk.id == "a"
    assert first.score == pytest.approx(1 / 11 + 2 / 12)
    assert first.trace.arms == {"semantic": Placement(rank=1, score=10.0), "bm25": Placement(rank=2, score=9.0)}
    assert first.trace.fused == Placement(rank=1, score=first.score)


def test_a_weight_moves_an_arm() -> None:
    arms = {"semantic": ranked("a"), "bm25": ranked("b")}
    assert [result.chunk.id for result in fuse_ranks(arms, weights={"semantic": 2.0})] == ["a", "b"]
    assert [result.chunk.id for result in fuse_ranks(arms, weights={"bm25": 2.0})] == ["b", "a"]


def test_a_limit_keeps_the_best() -> None:
    assert [result.chunk.id for result in fuse_ranks({"bm25": ranked("abcd")}, limit=2)] == ["a", "b"]


def test_nothing_fuses_to_nothing() -> None:
    assert fuse_ranks({}) == fuse_ranks({"bm25": []}) == []


@given(rankings, rankings)
def test_fusion_is_a_total_order_over_everything_found(one: str, other: str) -> None:
    fused = order(semantic=one, bm25=other)
    assert set(fused) == set(one) | set(other)
    assert len(fused) == len(set(fused))
    assert fused == order(bm25=other, semantic=one)


@given(rankings)
def test_one_arm_alone_keeps_its_order(names: str) -> None:
    assert order(semantic=names) == order(semantic=names, bm25="") == names


def test_scores_are_added_by_weight() -> None:
    arms = {"semantic": [(CHUNKS["a"], 0.8), (CHUNKS["b"], 0.6)], "bm25": [(CHUNKS["b"], 1.0)]}
    fused = fuse_scores(arms, weights={"bm25": 0.5}, asked=10)
    assert [(result.chunk.id, result.score) for result in fused] == [("b", pytest.approx(1.1)), ("a", 0.8)]
    assert fused[0].trace.arms == {"semantic": Placement(rank=2, score=0.6), "bm25": Placement(rank=1, score=1.0)}


def test_a_chunk_beyond_an_arms_results_counts_there_as_the_last_of_them() -> None:
    arms = {"semantic": [(CHUNKS["a"], 0.8), (CHUNKS["b"], 0.7)], "bm25": [(CHUNKS["c"], 0.5)]}
    cut = {result.chunk.id: result.score for result in fuse_scores(arms, asked=2)}
    assert cut == {"a": 0.8, "b": 0.7, "c": pytest.approx(1.2)}
    whole = {result.chunk.id: result.score for result in fuse_scores(arms, asked=3)}
    assert whole["c"] == 0.5


def test_what_one_arm_alone_found_too_far_away_is_no_result() -> None:
    arms = {"semantic": [(CHUNKS["a"], 0.1), (CHUNKS["b"], 0.05)], "bm25": [(CHUNKS["b"], 0.3), (CHUNKS["c"], 0.1)]}
    assert [result.chunk.id for result in fuse_scores(arms, asked=9, least={"semantic": 0.2})] == ["b", "c"]


@given(rankings, rankings)
def test_fusion_by_score_is_a_total_order_over_everything_found(one: str, other: str) -> None:
    arms = {"semantic": ranked(one), "bm25": ranked(other)}
    fused = [result.chunk.id for result in fuse_scores(arms, asked=10)]
    assert set(fused) == set(one) | set(other)
    assert fused == [result.chunk.id for result in fuse_scores(dict(reversed(arms.items())), asked=10)]


class Scripted:
    """An arm that returns what it is given, or raises it."""

    def __init__(self, name: str, outcome: Ranking | BaseException) -> None:
        self.name = name
        self.outcome = outcome
        self.limits: list[int] = []

    async def rank(self, query: SearchQuery, *, scope: Scope, limit: int) -> Ranking:
        self.limits.append(limit)
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return self.outcome


async def search(*arms: Scripted, limit: int = 5, **settings: float) -> list[str]:
    retrieval = Retrieval.model_validate(settings)
    weights = {"semantic": retrieval.semantic_weight, "bm25": retrieval.bm25_weight}
    results = await Hybrid(arms, weights, retrieval).search(SearchQuery(text="?"), scope=Scope(), limit=limit)
    return [result.chunk.id for result in results]


@pytest.mark.parametrize("failure", [ProviderError("no database"), RuntimeError("a bug"), TimeoutError()])
async def test_when_an_arm_fails_the_other_serves_with_a_warning(
    failure: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        assert await search(Scripted("semantic", failure), Scripted("bm25", ranked("ab"))) == ["a", "b"]
    (record,) = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert "semantic" in record.getMessage()
    assert record.exc_info


async def test_an_arm_that_fails_is_noted_in_the_trace_without_a_library_s_words() -> None:
    with noting() as notes:
        await search(Scripted("semantic", ProviderError("no database")), Scripted("bm25", ranked("a")))
        await search(Scripted("semantic", ranked("a")), Scripted("bm25", RuntimeError("what was asked")))
    assert notes == ["searched without the semantic arm: no database", "searched without the bm25 arm: RuntimeError"]


class Degrading(Scripted):
    """An arm that falls back by itself, in the task it runs in."""

    async def rank(self, query: SearchQuery, *, scope: Scope, limit: int) -> Ranking:
        degraded("a simpler way")
        return await super().rank(query, scope=scope, limit=limit)


async def test_what_degrades_inside_an_arm_reaches_the_trace_of_the_search() -> None:
    with noting() as notes:
        await search(Degrading("semantic", ranked("a")), Scripted("bm25", ranked("a")))
    assert notes == ["a simpler way"]


async def test_when_every_arm_fails_it_is_a_provider_error() -> None:
    with pytest.raises(ProviderError, match="semantic, bm25"):
        await search(Scripted("semantic", ProviderError("x")), Scripted("bm25", ProviderError("y")))


async def test_a_mistake_of_the_caller_is_not_hidden_by_the_other_arm() -> None:
    with pytest.raises(ConfigError):
        await search(Scripted("semantic", ConfigError("bad key")), Scripted("bm25", ranked("a")))


async def test_an_arm_of_weight_zero_is_not_asked() -> None:
    idle = Scripted("semantic", ranked("b"))
    assert await search(idle, Scripted("bm25", ranked("a")), semantic_weight=0) == ["a"]
    assert idle.limits == []


async def test_each_arm_brings_the_candidates_and_never_fewer_than_the_limit() -> None:
    arm = Scripted("bm25", ranked("abcdefgh"))
    assert len(await search(arm, limit=3, candidates=30)) == 3
    await search(arm, limit=50, candidates=30)
    assert arm.limits == [30, 50]


async def test_a_chunk_that_one_arm_alone_finds_is_in_the_result(library: Library) -> None:
    await library.add({"a.txt": "The lantern E-4032 hangs high.", "b.txt": "Unrelated words about weather."})
    (result, *_) = await library.search("E-4032 lantern")
    assert result.chunk.source == "a.txt"
    assert set(result.trace.arms) == {"semantic", "bm25"}
    assert result.trace.fused is not None


@pytest.mark.parametrize("method", ["semantic", "bm25", "hybrid"])
async def test_no_method_returns_anything_outside_its_namespaces(library: Library, method: str) -> None:
    await library.add({"a.txt": "The secret lantern."}, namespace="secret")
    library.write({"a.txt": "The public lantern."})
    await library.add({}, namespace="public")
    for namespaces, expected in {
        ("public",): {"public"},
        ("secret",): {"secret"},
        (): {"public", "secret"},
        ("public", "secret"): {"public", "secret"},
        ("none",): set(),
    }.items():
        found = await library.search("secret lantern", method, scope=Scope(namespaces=namespaces))
        assert {result.chunk.namespace for result in found} == expected
