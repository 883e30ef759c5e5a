"""What of a message is the person's own: pasted documents, logs and inlined context are kept from searches.

Pure functions. They decide by form alone: tags, code fences, quote marks, and where in a message a question stands.
A short paste that nothing marks cannot be told from the person's own words.
"""

import re
from collections.abc import Sequence

from condensery.retrieval.sentences import sentence_spans
from condensery.retrieval.text import is_blank

_TAGGED = re.compile(r"<(?P<tag>[A-Za-z][\w:.-]{0,40})(?:\s[^<>]*)?>.*?</(?P=tag)\s*>", re.DOTALL)
_UNCLOSED = re.compile(
    r"(?:^[ \t]*<[A-Za-z][\w:.-]{0,40}(?:\s[^<>]*)?>|<[A-Za-z][\w:.-]{0,40}>(?=.{200}|.*\n)).*\Z",
    re.DOTALL | re.MULTILINE,
)
_FORMATTING = re.compile(
    r"</?(?:a|b|br|code|em|i|kbd|mark|q|s|small|span|strong|sub|sup|u)(?:\s[^<>]*)?/?>", re.IGNORECASE
)
_FENCED = re.compile(r"(?P<fence>```+|~~~+).*?(?:(?P=fence)|\Z)", re.DOTALL)
_QUOTED = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_BLANK_LINES = re.compile(r"\n\s*\n")
_QUESTION_MARKS = ("?", "？", "؟")

LONGEST_PARAGRAPH = 400
"""Characters; a longer paragraph is taken for something pasted when a question stands beside it."""
MOST_LINES = 3
"""A paragraph of more lines is, too."""
MOST_QUESTIONS = 3
"""Questions in a row that a person asks at once; more are a pasted list."""


def own_words(message: str) -> str:
    """`message` without inlined blocks: `<tag>…</tag>`, fenced code, and quoted lines when anything else is left.

    A block that is not closed runs to the end; a tag that is not closed opens one only at the start of a line, or when
    much follows it. Tags that only format words (`<b>`) go alone. What is left may still be long; see `question_in`.
    """
    message = _FORMATTING.sub("", message)
    for block in (_TAGGED, _FENCED, _UNCLOSED):
        message = block.sub("\n\n", message)
    unquoted = _QUOTED.sub("\n\n", message)
    return (message if is_blank(unquoted) else unquoted).strip()


def question_in(message: str, max_chars: int) -> str | None:
    """The question of `message` in at most `max_chars` characters, on one line, or None when there is none.

    All of the person's own words when they fit and no part of them looks pasted; else the question at their beginning
    or end. Questions inside a paste are not the person's; when the two cannot be told apart there is none.
    """
    own = own_words(message)
    whole = _on_one_line(own)
    if is_blank(whole):
        return None
    fits = len(whole) <= max_chars
    parts = _paragraphs(own)
    if fits and not (len(parts) > 1 and any(map(_looks_pasted, parts))):
        return whole
    return _question_at_an_end(own, max_chars) or (whole if fits else None)


def is_plain(message: str, max_chars: int) -> bool:
    """Whether `message` is searched for as it stands: nothing was taken out of it."""
    return question_in(message, max_chars) == _on_one_line(message)


def is_question(text: str) -> bool:
    """Whether `text` ends as a question does."""
    return text.rstrip(" \"'»”)").endswith(_QUESTION_MARKS)


def sentences(text: str) -> list[str]:
    """The sentences of `text`, stripped, in order."""
    return [text[start:end] for start, end in sentence_spans(text)]


def _question_at_an_end(text: str, max_chars: int) -> str | None:
    """Look at paragraphs, else lines, else sentences: whatever there is more than one of."""
    for split in (_paragraphs, str.splitlines, sentences):
        units = [unit for unit in split(text) if not is_blank(unit)]
        if len(units) > 1:
            return _joined(_at_one_end(units), max_chars)
    return None


def _at_one_end(units: Sequence[str]) -> list[str]:
    """The few units in a row with questions at the beginning or the end of `units`; [] when both ends ask."""
    with_question = [any(map(is_question, sentences(unit))) for unit in units]
    short = [asks and not _looks_pasted(unit) for asks, unit in zip(with_question, units, strict=True)]
    asks = short if any(short) else with_question
    if all(asks):
        return list(units) if len(units) <= MOST_QUESTIONS else []
    if asks[0] == asks[-1]:
        return []
    count = asks.index(False) if asks[0] else asks[::-1].index(False)
    if count > MOST_QUESTIONS or sum(with_question) > count:
        count = 1  # the paste asks, too: only the outermost is surely the person's
    return list(units[:count] if asks[0] else units[-count:])


def _joined(units: Sequence[str], max_chars: int) -> str | None:
    """As many of `units`, from the last, as fit; of one that is too long, the question at its end."""
    kept: list[str] = []
    left = max_chars
    for unit in reversed(units):
        line = _on_one_line(unit)
        fitting = line if len(line) <= left else _question_at_an_end(unit, left) if not kept else None
        if fitting is None:
            break
        kept.insert(0, fitting)
        left -= len(fitting) + 1
    return " ".join(kept) or None


def _looks_pasted(part: str) -> bool:
    return len(part) > LONGEST_PARAGRAPH or part.strip().count("\n") >= MOST_LINES


def _paragraphs(text: str) -> list[str]:
    return [part for part in _BLANK_LINES.split(text) if not is_blank(part)]


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
