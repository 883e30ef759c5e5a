"""Documents into chunks: whole sentences, table rows and list items under their headings, with exact offsets."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from condensery.retrieval.parsed import Block, ParsedDocument
from condensery.retrieval.sentences import sentence_spans
from condensery.retrieval.types import Chunk
from condensery.settings import Ingest

CHUNKING_VERSION = "3"
"""Raised whenever readers or chunking give other chunks for the same bytes; every file is then ingested anew."""

# A line with the indented lines under it, unless those are items of their own.
_LINE = re.compile(r"\S[^\n]*(?:\n[ \t]+(?![-*+•] |\d+[.)] )\S[^\n]*)*")


@dataclass(frozen=True, slots=True)
class _Unit:
    start: int
    end: int
    block: Block
    page: int | None


def chunk_document(document: ParsedDocument, source: str, namespace: str, settings: Ingest) -> list[Chunk]:
    """Cut `document` into chunks of at most `settings.chunk_chars` characters, none across a heading.

    `document.text[chunk.start:chunk.end] == chunk.text` holds for each. A sentence is cut only when it alone is longer
    than a chunk. A chunk repeats up to `settings.overlap_chars` characters, in whole sentences, of the one before it.
    """
    chunks: list[Chunk] = []
    units = _units(document, settings.chunk_chars)
    for (_, heading, page), group in groupby(units, key=lambda u: (u.block.section, u.block.heading, u.page)):
        for start, end in _pack(list(group), settings.chunk_chars, settings.overlap_chars):
            chunk = Chunk(
                id="",
                text=document.text[start:end],
                source=source,
                title=document.title,
                heading=heading,
                namespace=namespace,
                page=page,
                start=start,
                end=end,
                metadata=dict(document.metadata),
            )
            chunks.append(chunk.model_copy(update={"id": _identity(chunk)}))
    return chunks


def enriched(chunk: Chunk) -> str:
    """Return what is embedded and indexed for `chunk`: title, heading and text; the passage alone is what is stored."""
    return "\n".join(part for part in (chunk.title, chunk.heading, chunk.text) if part)


def _identity(chunk: Chunk) -> str:
    """Equal for the same passage at the same place of the same document, so that references outlive a re-ingestion."""
    parts = (chunk.namespace, chunk.source, str(chunk.start), enriched(chunk))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def _units(document: ParsedDocument, limit: int) -> Iterator[_Unit]:
    for block in document.blocks:
        for start, end in _spans(document.text, block):
            for left, right in _cut(document.text, start, end, limit):
                yield _Unit(left, right, block, document.page_at(left))


def _spans(text: str, block: Block) -> Iterator[tuple[int, int]]:
    piece = text[block.start : block.end]
    spans = (match.span() for match in _LINE.finditer(piece)) if block.by_lines else sentence_spans(piece)
    return ((block.start + start, block.start + end) for start, end in spans)


def _cut(text: str, start: int, end: int, limit: int) -> Iterator[tuple[int, int]]:
    """Cut what is longer than `limit` at a line end or space in the second half if there is one, else anywhere."""
    while end - start > limit:
        middle = max(text.rfind(mark, start + limit // 2, start + limit + 1) for mark in "\n ")
        middle = middle if middle > start else start + limit
        yield start, middle
        start = middle + len(text[middle:end]) - len(text[middle:end].lstrip())
    if start < end:
        yield start, end


def _pack(units: list[_Unit], limit: int, overlap: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of as many units as fit into `limit`, each span going back over at most `overlap` characters."""
    first = 0
    for index, unit in enumerate(units):
        if unit.end - units[first].start > limit:
            previous_end = units[index - 1].end
            yield units[first].start, previous_end
            first = index
            while previous_end - units[first - 1].start <= overlap and unit.end - units[first - 1].start <= limit:
                first -= 1
    if units:
        yield units[first].start, units[-1].end
