"""Text of documents on its way in, made uniform before any offset is taken."""

import re

from condensery.storage.text import clean_text

_CONTROLS = re.compile("[\x01-\x08\x0e-\x1f\x7f\ufeff]")
_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")


def uniform(text: str) -> str:
    """Return `text` as Postgres accepts it, with `\\n` as its only line end and without control characters."""
    return _CONTROLS.sub("", _LINE_ENDS.sub("\n", clean_text(text)))


def one_line(text: str) -> str:
    """Return `text` uniform and on one line: for titles, headings and names."""
    return " ".join(uniform(text).split())


def beginning(text: str, most: int) -> str:
    """Return the beginning of `text` on one line, at most `most` characters: whole words where there are any."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most + 1].rpartition(" ")[0] or line[:most]


def inert(text: str) -> str:
    """Return `text` without angle brackets: nothing in it can end the part of a prompt that it stands in."""
    return text.replace("<", "‹").replace(">", "›")


def is_blank(text: str) -> bool:
    """Whether `text` has no visible character: nothing, white space, or only zero-width and control characters."""
    return not any(character.isprintable() and not character.isspace() for character in text)
