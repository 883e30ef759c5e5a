"""The measures, against values worked out by hand."""

import math

import pytest

from condensery.evals.metrics import (
    change,
    fact_rank,
    hit,
    ideal_ranks,
    interval,
    ndcg,
    percentile,
    recall,
    reciprocal_rank,
)

SECOND = 1 / math.log2(3)
"""The gain of a result at rank 2."""


def test_recall_is_the_share_of_what_is_wanted_among_the_first_results() -> None:
    ranks = [1, 4, None]
    assert recall(ranks, 1) == pytest.approx(1 / 3)
    assert recall(ranks, 3) == pytest.approx(1 / 3)
    assert recall(ranks, 5) == pytest.approx(2 / 3)


def test_a_hit_needs_one_wanted_thing_only() -> None:
    assert hit([3, 1]) == 1
    assert hit([2, None]) == 0
    assert hit([None]) == 0


def test_the_reciprocal_rank_is_that_of_the_best_and_ends_at_ten() -> None:
    assert reciprocal_rank([4, 2]) == 0.5
    assert reciprocal_rank([10]) == 0.1
    assert reciprocal_rank([11, None]) == 0


def test_the_fact_rank_counts_every_fact() -> None:
    assert fact_rank([1, 2]) == 0.75
    assert fact_rank([1, None]) == 0.5
    assert fact_rank([1, 11]) == 0.5


def test_ndcg_of_one_wanted_thing_falls_with_its_rank() -> None:
    assert ndcg([1]) == 1
    assert ndcg([2]) == pytest.approx(0.6309, abs=1e-4)
    assert ndcg([3]) == pytest.approx(0.5)
    assert ndcg([10]) == pytest.approx(0.2891, abs=1e-4)
    assert ndcg([11]) == 0
    assert ndcg([None]) == 0


def test_ndcg_of_several_is_measured_against_the_best_order_of_them() -> None:
    assert ndcg([2, 1]) == 1
    assert ndcg([1, None]) == pytest.approx(1 / (1 + SECOND))
    assert ndcg([2, 4]) == pytest.approx((SECOND + 1 / math.log2(5)) / (1 + SECOND))


def test_the_ideal_of_more_than_ten_wanted_things_ends_at_ten_too() -> None:
    assert ndcg([*range(1, 11), None, None]) == 1


def test_facts_that_one_result_holds_share_their_rank_in_the_ideal() -> None:
    together, apart = frozenset({"a"}), frozenset({"b"})
    assert ideal_ranks([together, together]) == [1, 1]
    assert ideal_ranks([together, apart]) == [1, 2]
    assert ideal_ranks([apart, together, together]) == [1, 1, 2]
    assert ndcg([1, 1], ideal_ranks([together, together])) == 1


def test_a_fact_that_no_result_holds_has_no_place_in_the_ideal() -> None:
    assert ideal_ranks([frozenset({"a"}), frozenset()]) == [1]
    assert ideal_ranks([frozenset()]) == []
    assert ndcg([None], []) == 0


def test_a_fact_in_two_results_is_found_by_either() -> None:
    assert ideal_ranks([frozenset({"a", "b"}), frozenset({"b"})]) == [1, 1]


def test_a_turn_changes_only_when_its_score_does() -> None:
    assert change(0.5, 0.5 + 1e-12) == "same"
    assert change(0.4, 0.5) == "worse"
    assert change(0.6, 0.5) == "better"


def test_the_interval_holds_the_mean_and_is_the_same_every_time() -> None:
    values = [0.0, 1.0] * 50
    low, high = interval(values)
    assert 0.35 < low < 0.5 < high < 0.65
    assert interval(values) == (low, high)
    assert interval([0.7]) == (0.7, 0.7)


def test_percentiles_are_values_that_were_measured() -> None:
    values = [float(number) for number in range(1, 21)]
    assert percentile(values, 50) == 10
    assert percentile(values, 95) == 19
    assert percentile([3.0], 95) == 3
