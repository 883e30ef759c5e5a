"""Files into documents: one reader per format, in a visible table."""

import logging
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePath

from condensery.retrieval.decoding import decode
from condensery.retrieval.parsed import ParsedDocument, Unreadable
from condensery.retrieval.read_docx import read_docx
from condensery.retrieval.read_html import read_html
from condensery.retrieval.read_markdown import read_markdown
from condensery.retrieval.read_pdf import read_pdf
from condensery.retrieval.read_text import read_rows, read_text
from condensery.retrieval.text import is_blank, one_line

logger = logging.getLogger(__name__)

UNKNOWN_FORMAT = "unknown format"
LEAST_MEANING = 10
"""A text has less than one meaningless character in so many; random bytes have four."""


def _decoded(read: Callable[[str], ParsedDocument]) -> Callable[[bytes], ParsedDocument]:
    return lambda data: read(_checked(decode(data)))


def _checked(text: str) -> str:
    """`text`, unless it is what decoding makes of pictures, programs and archives."""
    meaningless = sum(count for character, count in Counter(text).items() if _is_meaningless(character))
    if meaningless * LEAST_MEANING > len(text):
        raise Unreadable("no text in it, but binary data")
    return text


def _is_meaningless(character: str) -> bool:
    """Undecodable, unassigned or a control; NUL pads texts, and ESC colours logs."""
    return character == "\ufffd" or (
        unicodedata.category(character) in ("Cc", "Cn") and not character.isspace() and character not in "\x00\x1b"
    )


READERS: dict[str, tuple[str, Callable[[bytes], ParsedDocument]]] = {
    ".txt": ("text", _decoded(read_text)),
    ".text": ("text", _decoded(read_text)),
    ".log": ("text", _decoded(read_rows)),
    ".rst": ("text", _decoded(read_text)),
    ".csv": ("text", _decoded(read_rows)),
    ".tsv": ("text", _decoded(read_rows)),
    ".md": ("markdown", _decoded(read_markdown)),
    ".markdown": ("markdown", _decoded(read_markdown)),
    ".html": ("html", read_html),
    ".htm": ("html", read_html),
    ".xhtml": ("html", read_html),
    ".pdf": ("pdf", read_pdf),
    ".docx": ("docx", read_docx),
}


def read_document(name: str, data: bytes) -> ParsedDocument:
    """Parse the bytes of the file `name`; blocks, so call it off the event loop.

    The title is the document's own, else made from the name; `metadata["format"]` names the reader. Raises Unreadable,
    with a reason for people, for an unknown format, an empty file and one that cannot be parsed.
    """
    path = PurePath(name)
    if path.suffix.lower() not in READERS:
        raise Unreadable(f"{UNKNOWN_FORMAT} '{path.suffix.lower()}'; known are {', '.join(sorted(READERS))}")
    if not data.strip():
        raise Unreadable("empty file")
    format_name, read = READERS[path.suffix.lower()]
    document = _parse(name, data, read)
    if is_blank(document.text):
        raise Unreadable("no text in it")
    title = document.title or one_line(path.stem.replace("_", " ").replace("-", " "))
    return replace(document, title=title[:200], metadata={**document.metadata, "format": format_name})


def _parse(name: str, data: bytes, read: Callable[[bytes], ParsedDocument]) -> ParsedDocument:
    try:
        return read(data)
    except Unreadable:
        raise
    except Exception as error:  # parsers of other people's files raise anything; the other files go on
        logger.warning("%s could not be parsed", name, exc_info=True)
        raise Unreadable("cannot be parsed; the log has the details") from error
