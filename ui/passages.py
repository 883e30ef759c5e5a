"""A source passage as Markdown: where it is from, and its text, with what was quoted in bold.

Text that was Markdown is shown as Markdown; any other as it stands, but for tables, which are tables.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePath

from condensery.prompts.loader import Prompts
from condensery.retrieval.types import Chunk
from condensery.ui.markdown import verbatim, without_directives
from condensery.workflows.turn import Citation

_DELIMITER = re.compile(r"\|?(?:\s*:?-+:?\s*\|)+\s*:?-*:?\s*")
_CELL_EDGE = re.compile(r"(?<!\\)\|")
_MARKER = re.compile(r"\s*(?:[-*+]|\d+[.)]|#{1,6}|>)\s+")

MARKDOWN = (".md", ".markdown")
NO_BREAK = "\u00a0"
Span = tuple[int, int]
Line = tuple[int, str]  # with the offset of its first character


def file_name(source: str) -> str:
    """The last part of a path, of whatever system it was written on."""
    return PurePath(source.replace("\\", "/")).name or source


def passage(chunk: Chunk, citations: Sequence[Citation], prompts: Prompts) -> str:
    """The side view of a chunk, with the quotes of `citations` in bold."""
    name = file_name(chunk.source)
    where = [f"**{verbatim(name)}**"]
    if chunk.page is not None:
        where.append(prompts.text("ui.page", page=str(chunk.page)))
    about = [part for part in dict.fromkeys((chunk.title, chunk.heading)) if part and part != name]
    lines = [" · ".join(where)] + ["*" + verbatim(" › ".join(about)) + "*"] * bool(about)
    quoted = [(citation.start or 0, citation.end or 0) for citation in citations]
    text = _Text(quoted, markdown=name.lower().endswith(MARKDOWN))
    return "\n\n".join([*lines, "---", text.body(chunk.text)])


@dataclass(frozen=True)
class _Text:
    """Renders text whose characters at the spans `quoted` are to be bold."""

    quoted: Sequence[Span]
    markdown: bool

    def body(self, text: str) -> str:
        return "\n\n".join(self._block(block) for block in _blocks(text))

    def _block(self, block: list[Line]) -> str:
        lone = len(block) == 1 and not block[0][1].lstrip().startswith("|")  # prose with a bar in it
        if _is_row(block[0][1]) and not lone:
            return self._table(block)
        return "\n".join(self._line(*line) for line in block)

    def _table(self, rows: list[Line]) -> str:
        """A table whose first row is its head; a piece of one that begins further down gets an empty head."""
        cells = [[self._line(*cell).strip() for cell in _cells(*row)] for row in rows]
        delimited = len(rows) > 1 and _DELIMITER.fullmatch(rows[1][1].strip()) is not None
        columns = max(len(row) for row in cells)
        head, rest = (cells[0], cells[2:]) if delimited else ([""] * columns, cells)
        return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * columns, *rest])

    def _line(self, start: int, line: str) -> str:
        """The line at offset `start`; emphasis hugs the words, since Markdown knows none around spaces and bullets."""
        done = len(line) - len(line.lstrip(" \t"))
        pieces = [line[:done] if self.markdown else NO_BREAK * len(line[:done].expandtabs(4))]
        first = marker.end() if (marker := _MARKER.match(line)) else done
        for left, right in sorted(self.quoted):
            left, right = max(left - start, first, done), min(right - start, len(line))
            if left < right and (words := line[left:right].strip()):
                left = line.index(words, left)
                pieces += [self._plain(line[done:left]), self._bold(words)]
                done = left + len(words)
        return "".join([*pieces, self._plain(line[done:].rstrip())])

    def _plain(self, text: str) -> str:
        """A picture would be fetched from wherever it lies; only its words are shown."""
        return without_directives(text.replace("![", "\\![")) if self.markdown else verbatim(text)

    def _bold(self, words: str) -> str:
        return f"**{self._plain(words.replace('**', '').replace('__', '') if self.markdown else words)}**"


def _blocks(text: str) -> Iterator[list[Line]]:
    """Runs of lines between blank ones, each line with its offset; a table is a run of its own."""
    block: list[Line] = []
    start = 0
    for line in text.split("\n"):
        if block and (not line.strip() or _is_row(line) != _is_row(block[-1][1])):
            yield block
            block = []
        if line.strip():
            block.append((start, line))
        start += len(line) + 1
    if block:
        yield block


def _is_row(line: str) -> bool:
    """`| a | b |` of Markdown, or `a | b` as tables of other formats are read."""
    line = line.strip()
    return " | " in line or (len(line) > 1 and line.startswith("|") and line.endswith("|"))


def _cells(start: int, line: str) -> Iterator[Line]:
    """The cells of a row, each with its offset."""
    edges = [edge.start() for edge in _CELL_EDGE.finditer(line)]
    outer = line.strip().startswith("|")
    for left, right in pairwise(edges if outer else [-1, *edges, len(line)]):
        yield start + left + 1, line[left + 1 : right]
