"""Answers without a model: the sentences of the evidence that best answer the question, quoted with citations.

A sentence is scored by how much of the question it covers, terms weighted by their rarity in the corpus (idf); what
its heading and the sentence before it say counts in part; a sentence that holds the kind of thing asked for (a number,
a time, a name …) counts more. Of an expanded question, the last sentence is what is asked, the others the subject.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from condensery.retrieval.sentences import sentence_spans
from condensery.retrieval.tokenize import terms
from condensery.retrieval.types import ScoredChunk
from condensery.workflows.answer_kinds import kind_bonus
from condensery.workflows.turn import Citation

Idf = Callable[[str], float]

SUBJECT_WEIGHT = 0.5
HEADING_WEIGHT = 0.5
NEIGHBOUR_WEIGHT = 0.35
RANK_WEIGHT = 0.15
LEAST_COVERAGE = 0.2
LEAST_OF_BEST = 0.8

_OWN_LINE = re.compile(r"\s*(?:\||[-*•+]\s|\d+[.)]\s|#)")


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


def best_quotes(question: str, chunks: Sequence[ScoredChunk], idf: Idf, *, limit: int) -> list[Quote]:
    """The sentences of `chunks` (best first) that answer `question`, best first, at most `limit`; [] when none does."""
    asked = asked_terms(question, idf)
    quotes = sorted(
        (quote for number, found in enumerate(chunks, start=1) for quote in _quotes(question, asked, number, found)),
        key=lambda quote: -quote.score,
    )
    return _distinct([quote for quote in quotes if quote.score >= LEAST_OF_BEST * quotes[0].score])[:limit]


def asked_terms(question: str, idf: Idf) -> dict[str, float]:
    """Weight per term of the question; weights add up to 1 over the terms, when there is one."""
    spans = sentence_spans(question)
    asked = set(terms(question[spans[-1][0] :])) if spans else set()
    weights = {term: idf(term) * (1.0 if term in asked else SUBJECT_WEIGHT) for term in terms(question)}
    total = sum(weights.values())
    return {term: weight / total for term, weight in weights.items()} if total else {}


def units(text: str) -> Iterator[tuple[int, int]]:
    """Spans of what can be quoted alone: sentences of prose, whole table rows and list items; headings are skipped."""
    for start, end in _blocks(text):
        if not _OWN_LINE.match(text[start:end]):
            yield from ((start + first, start + last) for first, last in sentence_spans(text[start:end]))
        elif text[start:end].strip(" |-:") and not text[start:end].lstrip().startswith("#"):
            yield start, end


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Spans of lines, prose lines that follow each other joined."""
    start = at = 0
    for line in text.splitlines(keepends=True):
        if _OWN_LINE.match(line) or (start < at and _OWN_LINE.match(text[start:at])):
            if start < at:
                yield start, start + len(text[start:at].rstrip())
            start = at
        at += len(line)
    if start < at:
        yield start, start + len(text[start:at].rstrip())


def _quotes(question: str, asked: dict[str, float], number: int, found: ScoredChunk) -> Iterator[Quote]:
    text, before = found.chunk.text, set[str]()
    around = set(terms(f"{found.chunk.title} {found.chunk.heading}"))
    for start, end in units(text):
        own = set(terms(text[start:end]))
        coverage = _coverage(asked, own, before, around)
        if own and coverage >= LEAST_COVERAGE and any(term in own for term in asked):
            bonus = kind_bonus(question, text[start:end])
            yield Quote(number, found, start, end, coverage + bonus + RANK_WEIGHT / number)
        before = own


def _coverage(asked: dict[str, float], own: set[str], before: set[str], around: set[str]) -> float:
    return sum(
        weight * (1 if term in own else max(NEIGHBOUR_WEIGHT * (term in before), HEADING_WEIGHT * (term in around)))
        for term, weight in asked.items()
    )


def _distinct(quotes: Iterable[Quote]) -> list[Quote]:
    """Without the sentences that an overlapping chunk repeats."""
    return list({" ".join(quote.text.split()): quote for quote in reversed(list(quotes))}.values())[::-1]


def quoted_answer(quotes: Sequence[Quote]) -> str:
    """The answer as Markdown: each quote on a line of its own, with its citation."""
    return "\n\n".join(f"“{' '.join(quote.text.split())}” [{quote.number}]" for quote in quotes)
