"""What of a message is the person's own: pasted documents, logs and inlined context never reach a search.

Pure functions. They decide by form alone: tags, code fences, quote marks, and paragraphs too long to be a question.
"""

import re

from condensery.retrieval.sentences import sentence_spans
from condensery.retrieval.text import is_blank

_TAGGED = re.compile(r"<(?P<tag>[A-Za-z][\w:.-]{0,40})(?:\s[^<>]*)?>.*?(?:</(?P=tag)\s*>|\Z)", re.DOTALL)
_FENCED = re.compile(r"(?P<fence>```+|~~~+).*?(?:(?P=fence)|\Z)", re.DOTALL)
_QUOTED = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_BLANK_LINES = re.compile(r"\n\s*\n")
_SPACES = re.compile(r"\s+")
_QUESTION_MARKS = ("?", "？", "؟")

LONGEST_PARAGRAPH = 400
"""Characters; a longer paragraph beside a question is taken for something pasted."""


def own_words(message: str) -> str:
    """`message` without inlined blocks: `<tag>…</tag>`, fenced code, quoted lines; unclosed blocks run to the end.

    What is left may still be long, when nothing marks the pasted part; see `question_in`.
    """
    for block in (_TAGGED, _FENCED, _QUOTED):
        message = block.sub("\n\n", message)
    return message.strip()


def question_in(message: str, max_chars: int) -> str | None:
    """The question of `message` in at most `max_chars` characters, on one line, or None when there is none.

    All of the person's own words when they fit and no paragraph looks pasted; else the questions among their sentences,
    the last ones first to be kept.
    """
    own = own_words(message)
    paragraphs = [_on_one_line(paragraph) for paragraph in _BLANK_LINES.split(own) if paragraph.strip()]
    whole = " ".join(paragraphs)
    if not is_blank(whole) and len(whole) <= max_chars and not (len(paragraphs) > 1 and _looks_pasted(paragraphs)):
        return whole
    return _last_questions(paragraphs, max_chars)


def _looks_pasted(paragraphs: list[str]) -> bool:
    return any(len(paragraph) > LONGEST_PARAGRAPH and not is_question(paragraph) for paragraph in paragraphs)


def is_question(text: str) -> bool:
    """Whether `text` ends as a question does."""
    return text.rstrip(" \"'»”)").endswith(_QUESTION_MARKS)


def _last_questions(paragraphs: list[str], max_chars: int) -> str | None:
    kept: list[str] = []
    left = max_chars
    for sentence in reversed([s for paragraph in paragraphs for s in sentences(paragraph) if is_question(s)]):
        left -= len(sentence) + bool(kept)
        if left < 0:
            break
        kept.append(sentence)
    return " ".join(reversed(kept)) or None


def sentences(text: str) -> list[str]:
    """The sentences of `text`, stripped, in order."""
    return [text[start:end] for start, end in sentence_spans(text)]


def _on_one_line(text: str) -> str:
    return _SPACES.sub(" ", text).strip()
