"""Markdown: headings, front matter, code and everything else as it is written."""

import re
from collections.abc import Iterator

from condensery.retrieval.parsed import ParsedDocument, Piece, from_pieces
from condensery.retrieval.text import one_line, uniform

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"^([A-Za-z_][A-Za-z0-9_]*):[ \t]+(\S.*)$", re.MULTILINE)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ATX = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*$")


def read_markdown(text: str) -> ParsedDocument:
    """Read Markdown; simple `key: value` lines of front matter become metadata, `title` the title."""
    text = uniform(text)
    fields: dict[str, str] = {}
    if front := _FRONT_MATTER.match(text):
        fields = {key: one_line(value.strip().strip("\"'")) for key, value in _FIELD.findall(front.group(1))}
        text = text[front.end() :]
    title = fields.pop("title", "")
    return from_pieces(_pieces(text.split("\n")), title, {key: value for key, value in fields.items() if value})


def _pieces(lines: list[str]) -> Iterator[Piece]:
    """Blank lines separate pieces, except inside a code fence."""
    block: list[str] = []
    fence = ""
    for line in lines:
        mark = _FENCE.match(line)
        if fence:
            block.append(line)
            if mark and mark.group(1).startswith(fence) and line.strip() == mark.group(1):
                yield Piece("\n".join(block), by_lines=True)
                block, fence = [], ""
        elif mark:
            yield from _flush(block)
            block, fence = [line], mark.group(1)
        elif heading := _ATX.match(line):
            yield from _flush(block)
            block = []
            yield Piece(heading.group(2), len(heading.group(1)))
        elif len(block) == 1 and (under := _SETEXT.match(line)):
            yield Piece(block[0], 1 if under.group(1).startswith("=") else 2)
            block = []
        elif line.strip():
            block.append(line)
        else:
            yield from _flush(block)
            block = []
    yield from _flush(block)


def _flush(block: list[str]) -> Iterator[Piece]:
    if block:
        yield Piece("\n".join(block))
