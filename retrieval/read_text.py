"""Plain text: paragraphs between blank lines, under what looks like headings; and text made of rows."""

import re
from collections.abc import Iterator

from condensery.retrieval.parsed import ParsedDocument, Piece, from_pieces
from condensery.retrieval.text import uniform

_BLANK_LINES = re.compile(r"\n(?:[^\S\n]*\n)+")
_UNDERLINED = re.compile(r"(?P<text>\S[^\n]*)\n(?P<rule>[=\-~*#^\"'`.:+_])(?P=rule){2,}[^\S\n]*(?:\n|\Z)")
_LONGEST_HEADING = 80
_SENTENCE_END = re.compile(r"[.,;:!?…。，；：！？]$")


def read_text(text: str) -> ParsedDocument:
    """Read prose; an underlined line, or a short line by itself above a paragraph, is taken for a heading."""
    return from_pieces(_pieces(_BLANK_LINES.split(uniform(text).strip("\n"))))


def read_rows(text: str) -> ParsedDocument:
    """Read text whose lines are records: tables and logs."""
    return from_pieces([Piece(uniform(text), by_lines=True)])


def _pieces(paragraphs: list[str]) -> Iterator[Piece]:
    following = [*paragraphs[1:], ""]
    for number, (paragraph, after) in enumerate(zip(paragraphs, following, strict=True)):
        first, _, rest = paragraph.strip().partition("\n")
        level = 1 if number == 0 else 2
        if underlined := _UNDERLINED.match(paragraph.strip()):
            yield Piece(underlined.group("text"), level)
            yield Piece(paragraph.strip()[underlined.end() :])
        elif number == 0 and rest and first.isupper() and len(first) <= _LONGEST_HEADING:
            yield Piece(first, level)
            yield Piece(rest)
        elif _is_heading(paragraph) and after and not _is_heading(after):
            yield Piece(paragraph, level)
        else:
            yield Piece(paragraph)


def _is_heading(paragraph: str) -> bool:
    line = paragraph.strip()
    ends = _SENTENCE_END.search(line) or "\n" in line or "\t" in line or "|" in line
    return not ends and len(line) <= _LONGEST_HEADING and (line[:1].isupper() or line[:1].isdecimal())
