"""What the layout of a PDF says: which lines are headings, where paragraphs end, what only repeats on every page.

A PDF knows no paragraphs, only glyphs with sizes and places. Everything here is a pure function of those.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from condensery.retrieval.parsed import Piece

HEADING_SIZE = 1.12
"""Text this many times the size of the body is a heading."""
PARAGRAPH_GAP = 1.3
"""A line this many times the usual distance below the one before begins a paragraph."""
_MOST_PAGES = 0.6

_MARKER = re.compile(r"(?:[•‣◦▪–*-]|\d{1,3}[.)]|[a-z]\))\s")
_UNFINISHED = re.compile(r"[^.!?:…。！？\"”»)]$")
_NO_HEADING_END = re.compile(r"[.,;:]$")
_HYPHEN = re.compile(r"(?<=[^\W\d_])[-\u00ad\u2010]$")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a page: effective font size in points, baseline `y` from the bottom, 1-based page."""

    text: str
    size: float
    bold: bool
    y: float
    page: int


def pieces_of(lines: Sequence[Line]) -> Iterator[Piece]:
    """Yield headings and paragraphs in reading order; a paragraph that runs over a page's end is one piece."""
    lines = [line for line in _without_running_lines(lines) if line.text.strip()]
    body = _commonest_size(lines)
    groups = _groups(lines)
    styles = sorted({_style(group[0]) for group in groups if _is_heading(group, body)}, reverse=True)
    width = max((len(line.text) for line in lines if line.size == body), default=0)
    for group in groups:
        level = min(styles.index(_style(group[0])) + 1, 6) if _is_heading(group, body) else 0
        yield _piece(group, level, width)


def _without_running_lines(lines: Sequence[Line]) -> list[Line]:
    """Drop page numbers, and headers and footers that most pages of a longer document share."""
    pages: dict[int, list[Line]] = {}
    for line in lines:
        pages.setdefault(line.page, []).append(line)
    edges = {page: [*own[:2], *own[-2:]] for page, own in pages.items()}
    shared = Counter(shape for own in edges.values() for shape in {_shape(line) for line in own})
    running = {shape for shape, count in shared.items() if len(pages) > 1 and count >= _MOST_PAGES * len(pages)}

    def is_running(line: Line) -> bool:
        is_number = line.text.strip().strip("-– ") == str(line.page)
        # On two pages an equal line may be chance, unless it counts the pages.
        is_repeated = _shape(line) in running and (len(pages) > 2 or str(line.page) in re.findall(r"\d+", line.text))
        return line in edges[line.page] and (is_number or is_repeated)

    return [line for line in lines if not is_running(line)]


def _shape(line: Line) -> str:
    return re.sub(r"\d+", "#", line.text.strip())


def _commonest_size(lines: Sequence[Line]) -> float:
    characters: Counter[float] = Counter()
    for line in lines:
        characters[line.size] += len(line.text)
    return characters.most_common(1)[0][0] if characters else 0.0


def _style(line: Line) -> tuple[float, bool]:
    return line.size, line.bold


def _is_heading(group: Sequence[Line], body: float) -> bool:
    size, bold = _style(group[0])
    text = " ".join(line.text.strip() for line in group)
    stands_out = size >= body * HEADING_SIZE or (bold and size >= body)
    return stands_out and len(text) < 150 and not text[0].islower() and not _NO_HEADING_END.search(text)


def _groups(lines: Sequence[Line]) -> list[list[Line]]:
    groups: list[list[Line]] = []
    gap = _usual_gap(lines)
    for line in lines:
        if not groups or _begins_anew(groups[-1][-1], line, gap):
            groups.append([])
        groups[-1].append(line)
    return groups


def _usual_gap(lines: Sequence[Line]) -> float:
    gaps = [a.y - b.y for a, b in pairwise(lines) if a.page == b.page and a.size == b.size and a.y > b.y]
    return median(gaps) if gaps else 0.0


def _begins_anew(before: Line, line: Line, gap: float) -> bool:
    """Whether `line` begins another heading or paragraph than `before` belongs to."""
    goes_on = bool(_UNFINISHED.search(before.text.strip())) and line.text.strip()[0].islower()
    if before.size != line.size or (before.bold != line.bold and not goes_on):
        return True
    if _MARKER.match(line.text.strip()):
        return True
    if before.page != line.page or line.y > before.y:  # another page or column: only the words can tell
        return not _UNFINISHED.search(before.text.strip())
    return before.y - line.y > max(gap, line.size) * PARAGRAPH_GAP


def _piece(group: Sequence[Line], level: int, width: int) -> Piece:
    # Wrapped prose fills its lines; the rows of a table do not.
    ragged = not level and len(group) > 1 and median(len(line.text) for line in group[:-1]) < width * 0.6
    text = ""
    breaks: list[tuple[int, int]] = []
    for line in group:
        if not breaks or line.page > breaks[-1][1]:
            breaks.append((len(text), line.page))
        text = _joined(text, line.text.strip(), "\n" if ragged else " ")
    return Piece(text, level, by_lines=ragged, pages=tuple(breaks))


def _joined(text: str, line: str, separator: str) -> str:
    """Join lines as they were before they were broken: a hyphenated word becomes whole, CJK gets no space."""
    if not text:
        return line
    if separator == " ":
        if _HYPHEN.search(text) and line[:1].islower():
            return text[:-1] + line
        if text[-1] > "\u2e80" and line[0] > "\u2e80":
            return text + line
    return text + separator + line
