"""Answers without a model: the sentences of the evidence that best answer the question, quoted with citations.

A sentence's score adds up how much of the question it covers (terms weighted by their rarity in the corpus; what its
heading and the sentence before it say counts in part), how near its vector is to what is asked, whether it holds the
kind of thing asked for (a number, a time, a name …), and the rank of its chunk, less what of it the last answers have
told already. Of an expanded question the last sentence is what is asked, the others name the subject. The weights:
docs/decisions/extractive-answers.md.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from condensery.retrieval.quotable import quotable_spans
from condensery.retrieval.sentences import sentence_spans
from condensery.retrieval.tokenize import terms
from condensery.retrieval.types import ScoredChunk
from condensery.workflows.answer_kinds import kind_bonus
from condensery.workflows.turn import Citation

Span = tuple[int, int]
Idf = Callable[[str], float]


@dataclass(frozen=True)
class Similarity:
    """Cosines of a sentence to the whole question, to what it asks last, and to the subject before that."""

    question: float
    asked: float
    subject: float = 0.0


Similarities = Mapping[tuple[str, Span], Similarity]
"""By chunk id and span; a sentence that is missing is judged by its words alone."""

COVERAGE = 0.75
SUBJECT_TERM, NEIGHBOUR_TERM, HEADING_TERM = 0.2, 0.65, 0.5
QUESTION_SIMILARITY, ASKED_SIMILARITY, SUBJECT_SIMILARITY = 0.25, 1.25, -0.25
RANK = 0.5
TOLD = 0.5
"""What a sentence loses when all its terms were in the last answers and none is asked for: a follow-up wants to know
something new, unless it asks for that very thing again ("And on Sundays?", when the quote before was wrong)."""
ODD_LENGTH, SHORT, LONG = 0.25, 5, 45

LEAST_SIMILARITY = 0.35
"""A sentence farther than this from the whole question does not answer it."""
LEAST_WITHOUT_WORDS = 0.5
"""The same for a sentence that shares no word with the question, so that a question in another language than the
documents finds nothing rather than anything, with an embedding model that knows one language only."""
LEAST_COVERAGE = 0.3
"""The same for a sentence without a vector."""
LEAST_OF_BEST = 0.85
"""A further quote scores at least this share of the first."""


@dataclass(frozen=True)
class Asked:
    """What sentences are judged by: the weight of each term, the terms of what is asked last, and those told before."""

    question: str
    weights: Mapping[str, float]
    last: frozenset[str]
    told: frozenset[str]


@dataclass(frozen=True)
class Quote:
    """A sentence of chunk `[number]`; `start` and `end` are character offsets into the chunk's text."""

    number: int
    found: ScoredChunk
    start: int
    end: int
    score: float

    @property
    def text(self) -> str:
        """The sentence as it stands in the chunk."""
        return self.found.chunk.text[self.start : self.end]

    def citation(self) -> Citation:
        """The citation of this very sentence."""
        chunk = self.found.chunk
        return Citation(
            number=self.number,
            chunk_id=chunk.id,
            source=chunk.source,
            page=chunk.page,
            quote=self.text,
            start=self.start,
            end=self.end,
        )


def parted(question: str) -> tuple[str, str]:
    """What stands before the last sentence of `question` and names the subject ("" mostly), and that last sentence."""
    spans = sentence_spans(question)
    at = spans[-1][0] if spans else 0
    return question[:at].strip(), question[at:]


def best_quotes(
    question: str,
    chunks: Sequence[ScoredChunk],
    idf: Idf,
    similar: Similarities,
    *,
    told: str = "",
    limit: int,
) -> list[Quote]:
    """The sentences of `chunks` (best first) that answer `question`, best first, at most `limit`; [] when none does.

    `told`: what earlier answers said.
    """
    asked = Asked(question, term_weights(question, idf), last_terms(question), frozenset(terms(told)))
    quotes = sorted(
        (quote for number, found in enumerate(chunks, start=1) for quote in _quotes(asked, similar, number, found)),
        key=lambda quote: -quote.score,
    )
    return _distinct(quote for quote in quotes if quote.score >= LEAST_OF_BEST * quotes[0].score)[:limit]


def last_terms(question: str) -> frozenset[str]:
    """The terms of what `question` asks last."""
    return frozenset(terms(parted(question)[1]))


def term_weights(question: str, idf: Idf) -> dict[str, float]:
    """Weight per term of the question: its rarity, less for a term that only names the subject; together 1."""
    asked = last_terms(question)
    weights = {term: idf(term) * (1.0 if term in asked else SUBJECT_TERM) for term in terms(question)}
    total = sum(weights.values())
    return {term: weight / total for term, weight in weights.items()} if total else {}


def _quotes(asked: Asked, similar: Similarities, number: int, found: ScoredChunk) -> Iterator[Quote]:
    text, before = found.chunk.text, set[str]()
    around = set(terms(f"{found.chunk.title} {found.chunk.heading}"))
    for start, end in quotable_spans(text):
        own = set(terms(text[start:end]))
        near = similar.get((found.chunk.id, (start, end)))
        covered = _coverage(asked.weights, own, before, around)
        if _answers(near, covered):
            score = COVERAGE * covered + _nearness(near) + kind_bonus(asked.question, text[start:end])
            score += RANK / number - TOLD * _known(asked, own) - _oddness(text[start:end])
            yield Quote(number, found, start, end, score)
        before = own


def _answers(near: Similarity | None, covered: float) -> bool:
    """Whether a sentence may be quoted at all."""
    if near is None:
        return covered >= LEAST_COVERAGE
    return near.question >= (LEAST_SIMILARITY if covered else LEAST_WITHOUT_WORDS)


def _nearness(near: Similarity | None) -> float:
    if near is None:
        return 0.0
    to_whole, to_asked = QUESTION_SIMILARITY * near.question, ASKED_SIMILARITY * near.asked
    return to_whole + to_asked + SUBJECT_SIMILARITY * near.subject


def _known(asked: Asked, own: set[str]) -> float:
    """The share of a sentence that was told before, less so the more it says of what is asked last."""
    told = len(own & asked.told) / len(own) if own else 0.0
    wanted = {term: weight for term, weight in asked.weights.items() if term in asked.last}
    said = sum(weight for term, weight in wanted.items() if term in own)
    return told * (1 - said / sum(wanted.values())) if wanted else told


def _oddness(sentence: str) -> float:
    return 0.0 if SHORT <= len(sentence.split()) <= LONG else ODD_LENGTH


def _coverage(asked: Mapping[str, float], own: set[str], before: set[str], around: set[str]) -> float:
    return sum(
        weight * (1 if term in own else max(NEIGHBOUR_TERM * (term in before), HEADING_TERM * (term in around)))
        for term, weight in asked.items()
    )


def _distinct(quotes: Iterable[Quote]) -> list[Quote]:
    """Without the sentences that an overlapping chunk repeats."""
    first: dict[str, Quote] = {}
    for quote in quotes:
        first.setdefault(" ".join(quote.text.split()), quote)
    return list(first.values())


def in_quoting_order(
    quotes: Sequence[Quote], chunks: Sequence[ScoredChunk]
) -> tuple[list[Quote], tuple[ScoredChunk, ...]]:
    """`quotes` and `chunks` renumbered so that the chunk of the first quote is [1]; unquoted chunks follow."""
    order = list(dict.fromkeys([*(quote.number for quote in quotes), *range(1, len(chunks) + 1)]))
    renumbered = [replace(quote, number=order.index(quote.number) + 1) for quote in quotes]
    return renumbered, tuple(chunks[number - 1] for number in order)


def quoted_answer(quotes: Sequence[Quote]) -> str:
    """The answer as Markdown: each quote on a line of its own, with its citation."""
    return "\n\n".join(f"“{' '.join(quote.text.split())}” [{quote.number}]" for quote in quotes)
