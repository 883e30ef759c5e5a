"""Word documents: paragraphs, headings, lists and tables in reading order."""

import io
import re
import zipfile
from collections.abc import Iterator
from itertools import groupby

from docx import Document
from docx.document import Document as WordDocument
from docx.opc.exceptions import OpcError
from docx.styles.style import BaseStyle, CharacterStyle
from docx.table import Table, _Cell
from docx.text.paragraph import Paragraph

from condensery.retrieval.parsed import ParsedDocument, Piece, Unreadable, from_pieces, table_row
from condensery.retrieval.text import one_line

_COMPOUND_FILE = b"\xd0\xcf\x11\xe0"  # what Word wraps a document in when it has a password
_HEADING = re.compile(r"heading ([1-6])$", re.IGNORECASE)


def read_docx(data: bytes) -> ParsedDocument:
    """Read a document; raises Unreadable for a damaged or password-protected one."""
    if data.startswith(_COMPOUND_FILE):
        raise Unreadable("password-protected Word document, or one in the old .doc format; save it as plain .docx")
    try:
        document = Document(io.BytesIO(data))
    except (OpcError, zipfile.BadZipFile, KeyError, ValueError) as error:
        raise Unreadable("damaged Word document; open it in Word and save it anew") from error
    properties = document.core_properties
    author = one_line(properties.author or "")
    metadata = {} if author in ("", "python-docx") else {"author": author}
    return from_pieces(_pieces(document), one_line(properties.title or ""), metadata)


def _pieces(document: WordDocument) -> Iterator[Piece]:
    """List items that follow each other are one piece, so that a chunk can hold the whole list."""
    for is_item, parts in groupby(document.iter_inner_content(), key=_is_list_item):
        if is_item:
            items = (one_line(part.text) for part in parts if isinstance(part, Paragraph))
            yield Piece("\n".join(f"- {item}" for item in items if item), by_lines=True)
        else:
            yield from (_piece(part) for part in parts)


def _piece(part: Paragraph | Table) -> Piece:
    if isinstance(part, Table):
        return Piece("\n".join(_rows(part)), by_lines=True)
    return Piece(part.text, next((level for name in _styles(part) if (level := _level(name))), 0))


def _is_list_item(part: Paragraph | Table) -> bool:
    return isinstance(part, Paragraph) and any(name.startswith("List") for name in _styles(part))


def _styles(paragraph: Paragraph) -> Iterator[str]:
    """The names of a paragraph's style and of those it is based on."""
    style: BaseStyle | None = paragraph.style
    while style is not None:
        yield style.name or ""
        style = style.base_style if isinstance(style, CharacterStyle) else None


def _level(style: str) -> int:
    heading = _HEADING.match(style)
    return int(heading.group(1)) if heading else int(style == "Title")


def _rows(table: Table) -> Iterator[str]:
    """One line per row; a merged cell appears once, a table inside a cell as its text."""
    for row in table.rows:
        cells = [cell for cell, _ in groupby(row.cells)]
        yield table_row(map(_cell_text, cells))


def _cell_text(cell: _Cell) -> str:
    parts = cell.iter_inner_content()
    return " ".join(part.text if isinstance(part, Paragraph) else "; ".join(_rows(part)) for part in parts)
