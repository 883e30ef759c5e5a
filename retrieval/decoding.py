"""Bytes of text files into text: by mark, as UTF-8, else as the likeliest older encoding."""

import codecs

from bs4.dammit import UnicodeDammit

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def decode(data: bytes) -> str:
    """Return the text of `data`; bytes that mean nothing become U+FFFD. Never fails."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    if unmarked := _unmarked_utf16(data):
        return data.decode(unmarked, "replace")
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        guessed = _mostly_utf8(data) or _western(data) or UnicodeDammit(data, is_html=False).unicode_markup
        return guessed or data.decode("latin-1")


def _unmarked_utf16(data: bytes) -> str | None:
    """UTF-16 of Western text has a NUL in almost every second byte."""
    sample = data[:4096]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if max(even, odd) * 5 < len(sample) * 2:
        return None
    return "utf-16-le" if odd > even else "utf-16-be"


def _mostly_utf8(data: bytes) -> str | None:
    """One damaged character must not turn a whole UTF-8 file into nonsense."""
    text = data.decode("utf-8", "replace")
    multibyte = sum(1 for character in text if character > "\x7f" and character != "\ufffd")
    return text if multibyte > text.count("\ufffd") else None


def _western(data: bytes) -> str | None:
    """Where few bytes are not ASCII, a statistical guess is a coin toss; Western Europe's encoding is the likeliest."""
    if sum(byte > 0x7F for byte in data) * 6 > len(data):
        return None
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError:
        return None
