"""Deciding by examples: which label a text has, by the labelled examples nearest to it. Pure functions, no model.

Each label is scored by the mean similarity of its nearest examples, not by how many of the nearest are its own: a label
with many examples has no advantage (class-balanced nearest neighbours).
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from pydantic import Field

from condensery.retrieval.types import Frozen

TEMPERATURE = 0.05
"""Of the softmax that turns scores into confidence: labels whose scores differ by this much are e : 1."""


class Example(Frozen):
    """A text, and what it is an example of."""

    label: str
    text: str


class Neighbour(Frozen):
    """An example near a text, and how near: the cosine of their vectors."""

    label: str
    text: str
    similarity: float


class Ruling(Frozen):
    """A label with what decided it.

    `confidence` is its share among all labels by their scores, between 0 and 1, and no calibrated probability;
    `margin` how much more similar it is than the next one.
    """

    label: str
    confidence: float
    margin: float
    scores: dict[str, float] = Field(description="Mean similarity of each label's nearest examples, the best first.")
    confidences: dict[str, float] = Field(description="The share of each label; together 1.")
    neighbours: tuple[Neighbour, ...] = Field(description="The examples that decided for the label, nearest first.")

    def clear(self, margin: float) -> bool:
        """Whether the label is ahead of the next one by at least `margin`."""
        return self.margin >= margin


def ruling(
    vector: Sequence[float], examples: Sequence[Example], vectors: npt.NDArray[np.float32], *, neighbours: int
) -> Ruling:
    """Decide by the `neighbours` nearest examples of each label.

    `vector` and the rows of `vectors`, one for each of `examples`, are unit vectors. Raises ValueError without any.
    """
    if not examples:
        raise ValueError("there are no examples to decide by")
    similarities = vectors @ np.asarray(vector, dtype=np.float32)
    nearest = _nearest_by_label(examples, similarities, neighbours)
    scores = {label: float(np.mean([each.similarity for each in found])) for label, found in nearest.items()}
    ranked = sorted(scores, key=lambda label: -scores[label])
    confidences = _shares([scores[label] for label in ranked])
    return Ruling(
        label=ranked[0],
        confidence=confidences[0],
        margin=scores[ranked[0]] - scores[ranked[1]] if len(ranked) > 1 else 2.0,
        scores={label: scores[label] for label in ranked},
        confidences=dict(zip(ranked, confidences, strict=True)),
        neighbours=tuple(nearest[ranked[0]]),
    )


def nearest_examples(
    vector: Sequence[float], examples: Sequence[Example], vectors: npt.NDArray[np.float32], *, most: int
) -> list[Neighbour]:
    """The `most` nearest examples, whatever their label, nearest first."""
    similarities = vectors @ np.asarray(vector, dtype=np.float32)
    order = np.argsort(-similarities, kind="stable")[:most]
    return [_neighbour(examples[at], similarities[at]) for at in order]


def _nearest_by_label(
    examples: Sequence[Example], similarities: npt.NDArray[np.float32], most: int
) -> dict[str, list[Neighbour]]:
    found: dict[str, list[Neighbour]] = {}
    for at in np.argsort(-similarities, kind="stable"):
        own = found.setdefault(examples[at].label, [])
        if len(own) < most:
            own.append(_neighbour(examples[at], similarities[at]))
    return found


def _neighbour(example: Example, similarity: float) -> Neighbour:
    return Neighbour(label=example.label, text=example.text, similarity=round(float(similarity), 4))


def _shares(scores: Sequence[float]) -> list[float]:
    """The softmax of `scores`, the largest of which is the first."""
    exponents = np.exp((np.asarray(scores) - scores[0]) / TEMPERATURE)
    return [float(share) for share in exponents / exponents.sum()]
