"""Whether evidence suffices for a question, judged without a model: by words and by sentence vectors. Pure functions.

The score is a logistic regression on three signals: how much of the question's content words the best chunk has (by
rarity), how much that is in absolute terms, and how near the nearest sentence is to the question. A question of several
parts is judged by its best one, so that what can be answered in part is answered. Where the weights come from, and what
was tried: docs/decisions/context-sufficiency.md.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from condensery.retrieval.chunking import enriched
from condensery.retrieval.tokenize import terms
from condensery.retrieval.types import ScoredChunk
from condensery.workflows.engines.wording import Vocabulary, content_words, folded, ordinary_words
from condensery.workflows.extractive import Similarities

Idf = Callable[[str], float]

COVERED, INFORMATION, NEARNESS, BIAS = 1.9, 1.6, 6.5, -6.4
"""The regression's weights of the three signals, and its constant."""

ORDINARY = 0.5
"""What a word counts by which any question may be asked ("cost", "long"); documents put such words otherwise."""
LENT = 0.3
"""What a word counts that the last turns lent to the question."""

FAR, NEARER = 0.35, 0.3
"""The cosine that is assumed of chunks without vectors of sentences: that of none, and what all of the words add."""

UNKNOWN_TERM = "\x00"
"""A term that no document has."""

_BETWEEN_PARTS = re.compile(r"[,;]?\s+(?:and|or|und|oder|sowie|et|ou|ed?|o)\s+|(?<=[?!.;])\s+|;\s*", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")


@dataclass(frozen=True)
class Part:
    """One of the things that a question asks, and how the evidence does on it; `score` between 0 and 1."""

    text: str
    covered: float
    score: float


@dataclass(frozen=True)
class Evidence:
    """What a question is judged by: the vocabularies of the chunks, word weights, and the nearest sentence's cosine."""

    vocabularies: Sequence[Vocabulary]
    idf: Idf
    nearest: float | None

    @classmethod
    def of(cls, chunks: Sequence[ScoredChunk], idf: Idf, similar: Similarities) -> "Evidence":
        """The evidence that `chunks` are; without vectors of sentences the words decide alone."""
        nearest = max((each.question for each in similar.values()), default=None)
        return cls([Vocabulary(enriched(found.chunk)) for found in chunks], idf, nearest)

    def has(self, word: str) -> bool:
        """Whether any chunk has `word`, in any form."""
        return any(map(self._having(word), self.vocabularies))

    def judged(self, asked: str, lent: str = "") -> Part:
        """How the evidence does on what is `asked`; `lent` is what earlier turns add to it."""
        weights = self._weights(asked, lent)
        total, highest = sum(weights.values()), self.idf(UNKNOWN_TERM)
        found = max(
            (sum(weight for word, weight in weights.items() if self._having(word)(said)) for said in self.vocabularies),
            default=0.0,
        )
        covered = found / total if total else 1.0
        information = found / highest if highest else 0.0
        nearest = FAR + NEARER * covered if self.nearest is None else self.nearest
        return Part(asked, covered, _logistic(covered, information, nearest))

    def _weights(self, asked: str, lent: str) -> Mapping[str, float]:
        weights: dict[str, float] = {}
        for text, share in ((asked, 1.0), (lent, LENT)):
            for word in content_words(text):
                weights.setdefault(folded(word), share * self._rarity(word))
        return weights

    def _rarity(self, word: str) -> float:
        rarity = max(map(self.idf, terms(word)), default=0.0)
        return rarity * (ORDINARY if folded(word) in ordinary_words() else 1.0)

    def _having(self, word: str) -> Callable[[Vocabulary], bool]:
        return lambda said: said.has(word)


def parts_of(question: str) -> list[str]:
    """The things that `question` asks, each with a word of its own; the question itself when it asks one thing."""
    parts = [part.strip(" ,") for part in _BETWEEN_PARTS.split(question)]
    asking = [part for part in parts if content_words(part)]
    return asking if len(asking) > 1 else [question.strip()]


def missing_from(evidence: Evidence, asked: str) -> tuple[str, ...]:
    """What `asked` names and no chunk does, as it is written there, words that follow each other together."""
    found: list[str] = []
    end = -1
    lacking = {folded(word) for word in content_words(asked) if not evidence.has(word)} - ordinary_words()
    for match in _WORD.finditer(asked):
        if folded(match.group()) not in lacking:
            continue
        follows = found and asked[end : match.start()].isspace()
        found[-1:] = [f"{found[-1]} {match.group()}"] if follows else [*found[-1:], match.group()]
        end = match.end()
    return tuple(dict.fromkeys(found))


def _logistic(covered: float, information: float, nearest: float) -> float:
    return 1 / (1 + math.exp(-(COVERED * covered + INFORMATION * information + NEARNESS * nearest + BIAS)))
