"""What every reader returns: one text, and where in it the blocks, headings and pages lie."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from condensery.errors import CondenseryError
from condensery.retrieval.text import one_line, uniform

_ITEM = re.compile(r"[ \t]*(?:[-*+•‣◦]|\d{1,3}[.)]|[|>]|\S.*[|\t]).*")
_PARAGRAPH = re.compile(r"\S.*?(?=\n[^\S\n]*\n|\Z)", re.DOTALL)


class Unreadable(CondenseryError):
    """A file cannot become a document; the message says why, for the person who gave it."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A heading (`level` 1–6) or a block of text (`level` 0) as a reader finds it, in reading order."""

    text: str
    level: int = 0
    by_lines: bool | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch `text[start:end]` of a document; `by_lines` says that lines, not sentences, are its smallest units."""

    start: int
    end: int
    by_lines: bool
    heading: str = ""
    section: int = 0


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A document's extracted text. Offsets are in characters of `text`; page i + 1 begins at `page_starts[i]`."""

    text: str
    title: str
    blocks: tuple[Block, ...]
    page_starts: tuple[int, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)

    def page_at(self, offset: int) -> int | None:
        """Return the 1-based page that holds `offset`, or None where the format has no pages."""
        return bisect_right(self.page_starts, offset) or None


def from_pieces(pieces: Iterable[Piece], title: str = "", metadata: Mapping[str, str] | None = None) -> ParsedDocument:
    """Join `pieces` with blank lines; each block knows its heading path ("Billing > Refunds", without the title)."""
    texts: list[str] = []
    blocks: list[Block] = []
    path: dict[int, str] = {}
    offset = section = 0
    for piece in pieces:
        text = one_line(piece.text) if piece.level else uniform(piece.text).strip("\n").rstrip()
        if not text.strip():
            continue
        if piece.level:
            title = title or (text if piece.level == 1 else "")
            path = {level: name for level, name in path.items() if level < piece.level} | {piece.level: text}
            section += 1
        else:
            by_lines = _by_lines(text, piece.by_lines)
            blocks.append(Block(offset, offset + len(text), by_lines, _heading(path, title), section))
        texts.append(text)
        offset += len(text) + 2
    whole = "\n\n".join(texts)
    # A document of headings alone is still a document.
    return ParsedDocument(whole, title, tuple(blocks) or from_text(whole).blocks, metadata=metadata or {})


def from_text(text: str, title: str = "", metadata: Mapping[str, str] | None = None) -> ParsedDocument:
    """Return `text`, cleaned, with its paragraphs as blocks."""
    return from_pages([text], title, metadata, paged=False)


def from_pages(
    pages: Iterable[str], title: str = "", metadata: Mapping[str, str] | None = None, *, paged: bool = True
) -> ParsedDocument:
    """Join the texts of `pages`; a sentence that runs over a page's end stays one."""
    whole, starts = "", []
    for page in (uniform(page).strip("\n").rstrip() for page in pages):
        if whole and page:
            whole += "\n" if whole[-1].isalnum() or whole[-1] in ",;-–" else "\n\n"
        starts.append(len(whole))
        whole += page
    blocks = (Block(*match.span(), _by_lines(match.group(), None)) for match in _PARAGRAPH.finditer(whole))
    return ParsedDocument(whole, title, tuple(blocks), tuple(starts) if paged else (), metadata or {})


def _heading(path: Mapping[int, str], title: str) -> str:
    return " > ".join(name for level, name in path.items() if not (level == 1 and name in title))


def _by_lines(text: str, told: bool | None) -> bool:
    if told is not None:
        return told
    lines = text.split("\n")
    return len(lines) > 1 and sum(1 for line in lines if _ITEM.match(line)) * 2 > len(lines)
