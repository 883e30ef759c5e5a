"""The optimization behind the layout: points on a line, apart where they must be, near where they should be."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_matrix

Pin = tuple[str, float]
"""A point's name and an offset from it."""


@dataclass(frozen=True)
class Apart:
    """`after` lies at least `by` behind `before`."""

    before: str
    after: str
    by: float


@dataclass(frozen=True)
class Pull:
    """Costs `weight` times the distance between the outermost of the pins."""

    pins: Sequence[Pin]
    weight: float


def place(names: Sequence[str], apart: Sequence[Apart], pulls: Sequence[Pull]) -> dict[str, float]:
    """The cheapest positions from 0 upwards, found exactly: a linear program in differences (Gansner et al. 1993).

    When all of `apart` and the offsets are whole numbers, so are the positions. Raises ValueError when the demands
    of `apart` go round in a circle.
    """
    index = {name: number for number, name in enumerate(names)}
    ends = [(len(names) + 2 * number, len(names) + 2 * number + 1) for number in range(len(pulls))]
    cost = np.zeros(len(names) + 2 * len(pulls))
    demands = [(index[demand.before], index[demand.after], demand.by) for demand in apart]
    for pull, (low, high) in zip(pulls, ends, strict=True):
        cost[[low, high]] = -pull.weight, pull.weight
        demands += [(low, index[name], -offset) for name, offset in pull.pins]
        demands += [(index[name], high, offset) for name, offset in pull.pins]
    return dict(zip(names, _solved(cost, demands), strict=False))


def _solved(cost: "np.ndarray[tuple[int], np.dtype[np.float64]]", demands: list[tuple[int, int, float]]) -> list[float]:
    """The values x of least cost, none below 0, with x[b] - x[a] >= by for each of `demands`."""
    count = len(demands)
    rows = np.repeat(np.arange(count), 2)
    columns = [column for before, after, _ in demands for column in (before, after)]
    matrix = csr_matrix((np.tile([1.0, -1.0], count), (rows, columns)), shape=(count, len(cost)))
    found = linprog(cost, A_ub=matrix, b_ub=[-by for _, _, by in demands], method="highs-ds")
    if not found.success:
        raise ValueError(f"the points cannot be placed: {found.message}")
    return [float(value) for value in found.x]
