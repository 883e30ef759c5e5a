"""What of a chunk can be quoted alone: sentences of prose, whole table rows and list items."""

import re
from collections.abc import Iterator

import numpy as np

from condensery.models.passages import Passage, PassageVectors
from condensery.retrieval.chunking import enriched
from condensery.retrieval.sentences import sentence_spans
from condensery.retrieval.types import Chunk
from condensery.storage.sentences import SentenceVectors

_OWN_LINE = re.compile(r"\s*(?:\||[-*•+]\s|\d+[.)]\s|#)")


def quotable_spans(text: str) -> Iterator[tuple[int, int]]:
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


def passage_of(chunk: Chunk) -> Passage:
    """What is embedded for `chunk`: its enriched text, with the place of each quotable sentence in it."""
    text = enriched(chunk)
    before = len(text) - len(chunk.text)
    return Passage(text, tuple((start + before, end + before) for start, end in quotable_spans(chunk.text)))


def sentence_vectors(chunk: Chunk, made: PassageVectors) -> SentenceVectors:
    """The vectors of the quotable sentences of `chunk`, as `passage_of` asked for them."""
    spans = tuple(quotable_spans(chunk.text))
    return SentenceVectors(spans, np.array(made.spans, dtype=np.float32).reshape(len(spans), len(made.vector)))
