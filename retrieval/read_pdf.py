"""PDF: the text layer, page by page."""

import io
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pypdf import PageObject, PdfReader
from pypdf.errors import DependencyError, PyPdfError

from condensery.retrieval.parsed import ParsedDocument, Unreadable, from_pieces
from condensery.retrieval.pdf_layout import Line, pieces_of
from condensery.retrieval.text import one_line, uniform

_Matrix = Sequence[float]

_NO_TITLE = re.compile(r"microsoft word - |untitled|unknown|\S+\.(?:docx?|pdf|indd|tex|dvi)$", re.IGNORECASE)
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})

logging.getLogger("pypdf").setLevel(logging.ERROR)  # it warns about every oddity of every file


def read_pdf(data: bytes) -> ParsedDocument:
    """Read the pages' text; raises Unreadable for a damaged, password-protected or scanned file."""
    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise Unreadable("password-protected PDF; save a copy without the password")
        lines = [line for number, page in enumerate(reader.pages, 1) for line in _lines(page, number)]
        title, author = _information(reader)
    except PyPdfError as error:
        raise Unreadable("damaged PDF; open it in a PDF viewer and save it anew") from error
    except DependencyError as error:
        raise Unreadable("encrypted PDF; save a copy without encryption, or pip install 'pypdf[crypto]'") from error
    if not any(line.text.strip() for line in lines):
        raise Unreadable("PDF without text, probably scanned; run text recognition (OCR) on it first")
    return from_pieces(pieces_of(lines), title, {"author": author} if author else {})


def _lines(page: PageObject, number: int) -> list[Line]:
    """The lines of a page, each with the style of its longest part and the place of its first."""
    lines: list[list[Line]] = [[]]

    def visit(text: str, outer: _Matrix, matrix: _Matrix, font: Mapping[str, Any] | None, size: float) -> None:
        effective = round(size * abs(matrix[3] * outer[3]) * 2) / 2 or size
        y = matrix[4] * outer[1] + matrix[5] * outer[3] + outer[5]
        bold = "bold" in str((font or {}).get("/BaseFont", "")).lower()
        first, *others = uniform(text).translate(_LIGATURES).split("\n")
        lines[-1].append(Line(first, effective, bold, y, number))
        lines.extend([Line(other, effective, bold, y, number)] for other in others)

    page.extract_text(visitor_text=visit)
    return [_merged(parts) for parts in lines if any(part.text.strip() for part in parts)]


def _merged(parts: Sequence[Line]) -> Line:
    seen = [part for part in parts if part.text.strip()]
    style = max(seen, key=lambda part: len(part.text))
    return replace(style, text="".join(part.text for part in parts), y=seen[0].y)


def _information(reader: PdfReader) -> tuple[str, str]:
    """The title and author the file states; titles that programs fill in by themselves are none."""
    stated = reader.metadata
    title, author = (one_line(str(value or "")) for value in ((stated.title, stated.author) if stated else ("", "")))
    return "" if _NO_TITLE.match(title) else title, author
