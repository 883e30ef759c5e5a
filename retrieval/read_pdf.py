"""PDF: the text layer, page by page."""

import io
import logging
import re

from pypdf import PdfReader
from pypdf.errors import PyPdfError

from condensery.retrieval.parsed import ParsedDocument, Unreadable, from_pages
from condensery.retrieval.text import one_line

# A lower-case letter after the line end: "Anglo-\nSaxon" keeps its hyphen, "exam-\nple" loses it.
_HYPHENATED = re.compile(r"(?<=[^\W\d_])[-\u00ad\u2010]\n(?=[a-zß-öø-ÿ])")
_NO_TITLE = re.compile(r"microsoft word - |untitled|unknown|\S+\.(?:docx?|pdf|indd|tex|dvi)$", re.IGNORECASE)
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})

logging.getLogger("pypdf").setLevel(logging.ERROR)  # it warns about every oddity of every file


def read_pdf(data: bytes) -> ParsedDocument:
    """Read the pages' text; raises Unreadable for a damaged, password-protected or scanned file."""
    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise Unreadable("password-protected PDF; save a copy without the password")
        pages = [_page_text(page.extract_text()) for page in reader.pages]
        title, author = _information(reader)
    except PyPdfError as error:
        raise Unreadable("damaged PDF; open it in a PDF viewer and save it anew") from error
    if not any(page.strip() for page in pages):
        raise Unreadable("PDF without text, probably scanned; run text recognition (OCR) on it first")
    return from_pages(pages, title, {"author": author} if author else {})


def _page_text(text: str) -> str:
    return _HYPHENATED.sub("", text.replace("\r", "")).translate(_LIGATURES)


def _information(reader: PdfReader) -> tuple[str, str]:
    """The title and author the file states; titles that programs fill in by themselves are none."""
    stated = reader.metadata
    title, author = (one_line(str(value or "")) for value in ((stated.title, stated.author) if stated else ("", "")))
    return "" if _NO_TITLE.match(title) else title, author
