"""Measures of one ranking and of many, as pure functions.

A ranking is judged by the 1-based rank at which each wanted thing (a passage, or a fact) was found, `None` when it was
not. Relevance is binary. Facts that one result holds together share its rank.
"""

import math
import random
from collections.abc import Sequence
from itertools import count
from statistics import fmean
from typing import Literal

DEPTH = 10
"""Results that count: nDCG@10, and reciprocal ranks down to 1/10."""

Ranks = Sequence[int | None]
Change = Literal["better", "same", "worse"]


def recall(ranks: Ranks, k: int) -> float:
    """The share of the wanted things among the first `k` results."""
    return sum(rank is not None and rank <= k for rank in ranks) / len(ranks)


def hit(ranks: Ranks, k: int = 1) -> float:
    """1 when any wanted thing is among the first `k` results, else 0."""
    return float(any(rank is not None and rank <= k for rank in ranks))


def reciprocal_rank(ranks: Ranks) -> float:
    """One over the best rank; 0 beyond `DEPTH`. Its mean over turns is the MRR."""
    found = [rank for rank in ranks if rank is not None and rank <= DEPTH]
    return 1 / min(found) if found else 0.0


def fact_rank(ranks: Ranks) -> float:
    """The mean over the wanted things of one over their rank: what tells two rankings of a chat turn apart."""
    return fmean(1 / rank if rank is not None and rank <= DEPTH else 0.0 for rank in ranks)


def ndcg(ranks: Ranks, ideal: Sequence[int] | None = None) -> float:
    """Normalized discounted cumulative gain at `DEPTH` (Järvelin and Kekäläinen, 2002), gain 1 per wanted thing.

    `ideal` holds the ranks of the best order there is; by default 1, 2, 3 …, one result for each wanted thing.
    """
    best = range(1, len(ranks) + 1) if ideal is None else ideal
    return _dcg(ranks) / _dcg(best) if best else 0.0


def _dcg(ranks: Ranks) -> float:
    return sum(1 / math.log2(1 + rank) for rank in ranks if rank is not None and rank <= DEPTH)


def ideal_ranks(holders: Sequence[frozenset[str]]) -> list[int]:
    """The ranks of wanted things in the best order of results; `holders` names, for each, the results that hold it.

    Greedy, as is usual for rankings whose results may hold several wanted things (Clarke et al., SIGIR 2008): the next
    result is always the one that holds most of what is left. What no result holds has no rank.
    """
    left = [holder for holder in holders if holder]
    ranks: list[int] = []
    for rank in count(1):
        if not left:
            return ranks
        names = sorted(set().union(*left))
        best = max(names, key=lambda name: sum(name in holder for holder in left))
        ranks += [rank] * sum(best in holder for holder in left)
        left = [holder for holder in left if best not in holder]
    raise AssertionError("counting never ends")


def change(score: float, raw: float) -> Change:
    """Whether `score` is better or worse than that of the raw message."""
    if math.isclose(score, raw, abs_tol=1e-9):
        return "same"
    return "better" if score > raw else "worse"


def interval(values: Sequence[float], *, samples: int = 2000, seed: int = 7) -> tuple[float, float]:
    """The 95 % confidence interval of the mean of `values`, by percentile bootstrap; the same for the same input."""
    draw = random.Random(seed)  # noqa: S311
    means = sorted(fmean(draw.choices(values, k=len(values))) for _ in range(samples))
    return means[int(0.025 * samples)], means[min(int(0.975 * samples), samples - 1)]


def percentile(values: Sequence[float], percent: float) -> float:
    """The value that `percent` of `values` do not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(math.ceil(percent / 100 * len(ordered)) - 1, 0)]
