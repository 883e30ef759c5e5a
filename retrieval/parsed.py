"""What every reader returns: one text, and where in it the blocks, headings and pages lie."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from condensery.errors import CondenseryError
from condensery.retrieval.text import one_line, uniform

_ITEM = re.compile(r"[ \t]*(?:[-*+•‣◦]|\d{1,3}[.)]|[|>]|\S.*[|\t]).*")


class Unreadable(CondenseryError):
    """A file cannot become a document; the message says why, for the person who gave it."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A heading (`level` 1–6) or a block of text (`level` 0) as a reader finds it, in reading order.

    `pages` says which 1-based page begins at which offset of `text`, in formats that have pages.
    """

    text: str
    level: int = 0
    by_lines: bool | None = None
    pages: tuple[tuple[int, int], ...] = ()


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
    """A document's extracted text, by offsets in its characters; `pages` holds where each 1-based page begins."""

    text: str
    title: str
    blocks: tuple[Block, ...]
    pages: tuple[tuple[int, int], ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)

    def page_at(self, offset: int) -> int | None:
        """Return the 1-based page that holds `offset`, or None where the format has no pages."""
        before = bisect_right(self.pages, offset, key=lambda page: page[0])
        return self.pages[before - 1][1] if before else None


def from_pieces(pieces: Iterable[Piece], title: str = "", metadata: Mapping[str, str] | None = None) -> ParsedDocument:
    """Join `pieces` with blank lines; each block knows its heading path ("Billing > Refunds", without the title)."""
    joined = _Joined(title)
    for piece in pieces:
        joined.add(piece)
    joined.keep_bare_heading(0)
    whole = "\n\n".join(joined.texts)
    return ParsedDocument(whole, joined.title, tuple(joined.blocks), tuple(joined.pages), metadata or {})


def table_row(cells: Iterable[str]) -> str:
    """A row of a table on one line, as Markdown writes it."""
    return f"| {' | '.join(map(one_line, cells))} |"


class _Joined:
    """A document in the making."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.texts: list[str] = []
        self.blocks: list[Block] = []
        self.pages: list[tuple[int, int]] = []
        self._path: dict[int, str] = {}
        self._offset = 0
        self._section = 0
        self._bare: tuple[int, Block] | None = None

    def add(self, piece: Piece) -> None:
        text = one_line(piece.text) if piece.level else uniform(piece.text).strip("\n").rstrip()
        if not text.strip():
            return
        if piece.level:
            self._add_heading(text, piece.level)
        else:
            self._bare = None
            self.blocks.append(self._block(text, _by_lines(text, piece.by_lines)))
        begun = ((self._offset + start, page) for start, page in piece.pages)
        self.pages += [(start, page) for start, page in begun if not self.pages or page > self.pages[-1][1]]
        self.texts.append(text)
        self._offset += len(text) + 2

    def keep_bare_heading(self, level: int) -> None:
        """A heading without anything under it, up to the next one of `level`, is text, or it would be lost."""
        if self._bare and level <= self._bare[0]:
            self.blocks.append(self._bare[1])
        self._bare = None

    def _add_heading(self, text: str, level: int) -> None:
        self.keep_bare_heading(level)
        self._section += 1
        self._path = {above: name for above, name in self._path.items() if above < level}
        self._bare = level, self._block(text, by_lines=False)
        self._path[level] = text
        self.title = self.title or (text if level == 1 else "")

    def _block(self, text: str, by_lines: bool) -> Block:
        shown = (name for level, name in self._path.items() if not (level == 1 and name in self.title))
        return Block(self._offset, self._offset + len(text), by_lines, " > ".join(shown), self._section)


def _by_lines(text: str, told: bool | None) -> bool:
    if told is not None:
        return told
    lines = text.split("\n")
    items = sum(1 for line in lines if _ITEM.match(line))
    others = sum(1 for line in lines if not _ITEM.match(line) and not line.startswith((" ", "\t")))
    return len(lines) > 1 and items > others
