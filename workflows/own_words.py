"""What of a message is the person's own: pasted documents, logs and inlined context are kept from searches.

Pure functions. They decide by form alone: tags, code fences, quote marks, and where in a message a question stands.
A short paste that nothing marks cannot be told from the person's own words.
"""

import re
from collections.abc import Sequence

from condensery.retrieval.sentences import sentence_spans
from condensery.retrieval.text import is_blank
from condensery.workflows.statements import is_statement, mentions_oneself

_TAGGED = re.compile(r"<(?P<tag>[A-Za-z][\w:.-]{0,40})(?:\s[^<>]*)?>.*?</(?P=tag)\s*>", re.DOTALL)
_UNCLOSED = re.compile(
    r"(?:^[ \t]*<[A-Za-z][\w:.-]{0,40}(?:\s[^<>]*)?>|<[A-Za-z][\w:.-]{0,40}>(?=.{200}|.*\n)).*\Z",
    re.DOTALL | re.MULTILINE,
)
_FORMATTING = re.compile(
    r"</?(?:a|b|br|code|em|i|kbd|mark|q|s|small|span|strong|sub|sup|u)(?:\s[^<>]*)?/?>", re.IGNORECASE
)
_BRACKETED = re.compile(r"\[(?P<tag>(?!INST)[A-Za-z][\w:.-]{0,40})\].*?\[/(?P=tag)\]", re.DOTALL)
_INSTRUCTED = re.compile(
    r"<<SYS>>.*?(?:<</SYS>>|\Z)|<\|im_start\|>\s*(?!user\b)\w+.*?(?:<\|im_end\|>|\Z)|<\|(?:system|tool)\|>.*?(?=<\||\Z)",
    re.DOTALL,
)
_MARKUP = re.compile(
    r"<(?:article|blockquote|body|dd|div|dl|dt|h\d|head|html|img|li|main|ol|p|pre|section|t(?:able|body|d|h|r)|ul)\b",
    re.I,
)
_FENCED = re.compile(r"(?P<fence>```+|~~~+|\"\"\"+).*?(?:(?P=fence)|\Z)", re.DOTALL)
_QUOTED = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_BLANK_LINES = re.compile(r"\n\s*\n")
_QUESTION_MARKS = ("?", "？", "؟")

LONGEST_PARAGRAPH = 400
"""Characters; a longer paragraph is taken for something pasted when a question stands beside it."""
MOST_LINES = 3
"""A paragraph of more lines is, too."""
MOST_QUESTIONS = 3
"""Questions in a row that a person asks at once; more are a pasted list."""
MOST_STATEMENTS = 3
"""Paragraphs, or lines, in which a person introduces themselves before a question."""


def own_words(message: str) -> str:
    """`message` without inlined blocks: tags, fenced code, and quoted lines when anything else is left.

    Blocks are `<tag>…</tag>`, `[tag]…[/tag]`, what stands between fences of backticks, tildes or triple quotes, and
    texts marked as a chat template marks those of the system.
    A block that is not closed runs to the end; a tag that is not closed opens one only at the start of a line, or when
    much follows it. Tags that only format words (`<b>`) go alone. What is left may still be long; see `question_in`.
    """
    message = _FORMATTING.sub("", message)
    for block in (_INSTRUCTED, _TAGGED, _BRACKETED, _FENCED, _UNCLOSED):
        message = block.sub("\n\n", message)
    unquoted = _QUOTED.sub("\n\n", message)
    return (message if is_blank(unquoted) else unquoted).strip()


def question_in(message: str, max_chars: int) -> str | None:
    """The question of `message` in at most `max_chars` characters, on one line, or None when there is none.

    All of the person's own words when they fit and no part of them looks pasted; else the question at their beginning
    or end, and what the person says of themselves before it. Questions and statements inside a paste are not the
    person's; where the two cannot be told apart they are left out.
    """
    own = own_words(message)
    whole = _on_one_line(own)
    if is_blank(whole):
        return None
    fits = len(whole) <= max_chars
    parts = _paragraphs(own)
    if fits and not any(map(_looks_pasted, parts)):
        return whole
    if fits and len(parts) == 1:
        return _without_statements(own) if "\n" in own else whole
    question = _question_at_an_end(own, max_chars)
    if question is None:
        return whole if fits else None
    return _introduced(_statements_before_a_block(message), question, max_chars)


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
            found = _at_one_end(units) or (_introduced_at_the_beginning(units) if split is not sentences else [])
            return _joined(_beside_a_paste(found, at_start=found[:1] == units[:1]), max_chars)
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


def _introduced_at_the_beginning(units: Sequence[str]) -> list[str]:
    """Statements of a person about themselves and the question after them, when what follows these looks pasted."""
    count = next((at for at, unit in enumerate(units) if not all(map(is_statement, sentences(unit)))), len(units))
    rest = units[count:]
    asked = _at_one_end(rest) if 0 < count <= MOST_STATEMENTS and len(rest) > 1 else []
    at_start = asked and asked == list(rest[: len(asked)]) and len(asked) < len(rest)
    return [*units[:count], *asked] if at_start and _looks_pasted("\n".join(rest[len(asked) :])) else []


def _beside_a_paste(units: Sequence[str], *, at_start: bool) -> list[str]:
    """`units` of which the one next to a paste has lost its statements between the paste and the question."""
    if not units:
        return []
    *others, nearest = units if at_start else reversed(units)
    lines = nearest.splitlines() if at_start else nearest.splitlines()[::-1]
    last = max((at for at, line in enumerate(lines) if _asks(line)), default=len(lines))
    kept = [line for at, line in enumerate(lines) if at <= last or not _states(line)]
    return [*others, "\n".join(kept)] if at_start else ["\n".join(reversed(kept)), *reversed(others)]


def _without_statements(text: str) -> str:
    """The lines of `text` as one, without its sentences in the first person when others of them are questions."""
    said = sentences(text)
    kept = [each for each in said if is_question(each) or not mentions_oneself(each)] if _asks(text) else said
    return _on_one_line(" ".join(kept))


def _statements_before_a_block(message: str) -> list[str]:
    """What a person says of themselves before the first inlined block, when nothing there looks pasted."""
    block = next((tagged for tagged in _TAGGED.finditer(message) if not _FORMATTING.match(tagged.group())), None)
    if block is None or _MARKUP.match(block.group()):
        return []
    own = own_words(message[: block.start()])
    return [] if _looks_pasted(own) else [each for each in sentences(own) if is_statement(each)]


def _introduced(statements: Sequence[str], question: str, max_chars: int) -> str:
    """`question` after as many of the `statements`, from the last, as fit and as it does not hold already."""
    for statement in reversed([_on_one_line(each) for each in statements]):
        if statement not in question and len(statement) + 1 + len(question) <= max_chars:
            question = f"{statement} {question}"
    return question


def _asks(text: str) -> bool:
    return any(map(is_question, sentences(text)))


def _states(text: str) -> bool:
    return any(map(mentions_oneself, sentences(text)))


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
