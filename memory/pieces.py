"""A message cut into sentences, and a sentence into clauses, before anything is read in them. Pure."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from condensery.memory.grammar import Grammar
from condensery.retrieval.sentences import sentence_spans
from condensery.retrieval.text import uniform
from condensery.workflows.own_words import LONGEST_PARAGRAPH, MOST_LINES, own_words

LONGEST_PIECE = 240
"""Characters that a list may grow to; what is longer is no fact."""
LONGEST_LIST = 5
"""Words after "and" that may go on with what was said before it."""
_QUOTED = re.compile(
    r"“[^”]*(?:”|$)|„[^“”]*(?:[“”]|$)|«[^»]*(?:»|$)|»[^«]*«|\"[^\"]*(?:\"|$)|`[^`]*`|(?<!\w)'(?=\w).{3,}?'(?!\w)|(?<!\w)‘.+?’(?!\w)"
)
_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "´": "'", "＇": "'"})
_BLANK_LINES = re.compile(r"\n\s*\n")
_BULLET = re.compile(r"^[ \t]*(?:[-*•·]|\d+[.)])[ \t]+")
_LOWER_START = re.compile(
    r"(?<=\w\w\w)(?<!approx)(?<!bzw)(?<!usw)(?<!etc)(?<!inkl)(?<!evtl)(?<!ca)(?:\.+|[?!]+)\s+(?=\w)"
    r"|(?<= no)\.\s+(?=[^\W\d])"
)
_AFTER_NUMBER = re.compile(
    r"(?<=\d)\.\s+(?=(?:i|i'm|j'|je|ich|io|my|mein\w{0,2}|mon|ma|what|what's|how|when|where|who|why|is|are|can|do|does|was|wie|wann|wo|"
    r"it|it's|that|y|on|il|faut|ça|c'est|es|die|das|der|gibts|ist|sind|è|c'è|darf|kann|muss|gibt|est|est-ce|quel\w*|combien|comment|qual\w*|quant\w*|come|posso|devo)(?:(?<=')|\b))"
)
_MONTHS = "januar|jänner|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember"
_ORDINAL = re.compile(
    r"\b(?:der|den|dem|des|vom|zum|ab|bis|seit|jede[nrsm]?|mein\w{0,2}|unser\w{0,2}|(?<!i )am|im) \d{1,2}\.$",
    re.IGNORECASE,
)
_AFTER_ORDINAL = re.compile(
    rf"(?:{_MONTHS}|stock\w*|etage|semester|lehrjahr|jahr|monat|woche|klasse|bezirk|schwangerschafts\w+|\d{{1,2}}\.)(?!\w)",
    re.IGNORECASE,
)
_SEPARATOR = re.compile(r"\s*(?P<mark>;|(?<!\d):|:(?!\d)|[()\[\]]|[—–]|\s-+\s|,(?!\d)|…|\.\.\.)\s*")
_LONGEST_NAME = 2
_LONGEST_LISTED = 3
_LEAST_MEASURE = 2
MOST_LISTED = 12
"""Parts of a list that are looked at to find its end."""


class Piece(NamedTuple):
    """A stretch of a sentence, and what stands before it: a mark, "&" for a conjunction, "" at the start."""

    text: str
    separator: str


def sentences_of(message: str) -> list[str]:
    """The sentences of the person's own words, without what they quote and without what looks pasted."""
    own = uniform(own_words(message))
    parts = [part for part in _BLANK_LINES.split(own) if part.strip()]
    if len(parts) > 1:
        parts = [part for part in parts if len(part) <= LONGEST_PARAGRAPH and part.strip().count("\n") < MOST_LINES]
    lines = (_BULLET.sub("", line) for part in parts for line in part.splitlines())
    return [piece for line in lines for piece in _split(_unquoted(line))]


def _split(line: str) -> Iterator[str]:
    for text in _sentences(line):
        begin = 0
        for found in sorted((*_LOWER_START.finditer(text), *_AFTER_NUMBER.finditer(text)), key=re.Match.start):
            yield text[begin : found.end()].strip()
            begin = found.end()
        yield text[begin:].strip()


def _sentences(line: str) -> Iterator[str]:
    """The sentences of `line`; a German date or floor ("am 3. Juli") ends none."""
    begin: int | None = None
    for start, end in sentence_spans(line):
        begin = start if begin is None else begin
        if _ORDINAL.search(line, max(begin, end - 24), end) and _AFTER_ORDINAL.match(line[end : end + 30].lstrip()):
            continue
        yield line[begin:end]
        begin = None
    if begin is not None:
        yield line[begin:].strip()


def _unquoted(line: str) -> str:
    return _QUOTED.sub(_name_or_nothing, line).translate(_APOSTROPHES)


def _name_or_nothing(quoted: re.Match[str]) -> str:
    """A quoted name stays; anything longer is somebody's words."""
    words = quoted[0][1:-1].split()
    is_name = len(words) <= _LONGEST_NAME and words and words[0][0].isupper() and "'" not in quoted[0][1:-1]
    return " ".join(words) if is_name else "❝"


def pieces(sentence: str, grammar: Grammar) -> list[Piece]:
    """`sentence` in clauses; lists ("a dog, two cats and a horse") stay whole."""
    found: list[Piece] = []
    raw = list(_raw(grammar.equated(sentence), grammar))
    for at, piece in enumerate(raw):
        is_last_of_question = at == len(raw) - 1 and sentence.endswith("?")
        is_fact = bool(found) and piece.separator in ("&", ",") and _continues(found[-1], piece, grammar)
        is_listed = _is_listed(raw[at : at + MOST_LISTED], grammar)
        goes_on = is_listed or (_goes_on(piece, grammar) and not (found and _measures(found[-1], piece, grammar)))
        goes_on = goes_on and not (found and piece.separator == "," and grammar["tail"].fullmatch(found[-1].text))
        if found and goes_on and not is_fact and not is_last_of_question and len(found[-1].text) < LONGEST_PIECE:
            joint = ", " if piece.separator == "," else f" {piece.conjunction} "
            found[-1] = Piece(f"{found[-1].text}{joint}{piece.text}", found[-1].separator)
        elif found and is_last_of_question and piece.separator == "&" and not _starts(piece.text, grammar):
            found[-1] = Piece(f"{found[-1].text} {piece.conjunction} {piece.text}", found[-1].separator)
        else:
            found.append(Piece(piece.text, piece.separator))
    return found


class _Raw(NamedTuple):
    text: str
    separator: str
    conjunction: str = ""


def _raw(sentence: str, grammar: Grammar) -> Iterator[_Raw]:
    before, at = "", 0
    for found in [*_SEPARATOR.finditer(sentence), None]:
        end = found.start() if found else len(sentence)
        yield from _at_conjunctions(sentence[at:end], before, grammar)
        before, at = (found["mark"].strip()[:1], found.end()) if found else ("", end)


def _at_conjunctions(text: str, before: str, grammar: Grammar) -> Iterator[_Raw]:
    separator, conjunction, at = before, "", 0
    for found in [*grammar["joins"].finditer(text), None]:
        end = found.start() if found else len(text)
        if part := text[at:end].strip():
            yield _Raw(part, separator, conjunction)
            separator = ","
        if found:
            conjunction, at = found[0].strip(), found.end()
            separator = "&" if separator in (",", "&") else separator


def _goes_on(piece: _Raw, grammar: Grammar) -> bool:
    """Whether `piece` only goes on with a list or a name that stands before it."""
    if _starts(piece.text, grammar) or piece.separator not in ("&", ","):
        return False
    words = piece.text.split()
    if piece.separator == "&":
        return len(words) <= LONGEST_LIST and bool(grammar["weak"].fullmatch(piece.conjunction))
    named = words[0][0].isupper() or words[0][0].isdigit() or words[0].lower() in grammar.numbers
    return len(words) <= LONGEST_LIST and (named or grammar["goes_on"].match(piece.text) is not None)


def _is_listed(raw: list[_Raw], grammar: Grammar) -> bool:
    """Whether the first of `raw` stands in a list that ends with "and" ("on mondays, tuesdays and fridays")."""
    for piece in raw:
        if piece.separator not in ("&", ",") or _starts(piece.text, grammar):
            return False
        if piece.separator == "&":
            return _goes_on(piece, grammar)
        if len(piece.text.split()) > _LONGEST_LISTED or grammar["others"].match(piece.text):
            return False
    return False


def _measures(before: Piece, piece: _Raw, grammar: Grammar) -> bool:
    """Whether `piece` adds a measure to what is no list of numbers ("a flat in Bern, 78 square metres")."""
    words = [word.casefold() for word in piece.text.split()]
    is_number = words[0].isdecimal() or words[0] in grammar.numbers
    if piece.separator != "," or not is_number or len(words) < _LEAST_MEASURE:
        return False
    counted = any(word.isdecimal() or word.casefold() in grammar.numbers for word in before.text.split())
    is_plain = not counted and piece.text.split()[1].islower() and not grammar["share"].search(piece.text)
    return grammar["measured"].search(piece.text) is not None or is_plain


def _continues(before: Piece, piece: _Raw, grammar: Grammar) -> bool:
    """Whether `piece` adds a fact of its own to what stands before it ("…, 22 years old", "… and no car")."""
    if len(before.text) > LONGEST_PIECE:
        return False
    return grammar.continues(unled(before.text, grammar)[0], piece.text) is not None


def _starts(text: str, grammar: Grammar) -> bool:
    """Whether a clause of its own begins with `text`."""
    text = unled(text, grammar)[0]
    names = "subject pronoun elided blocked ask others tags task causes"
    if not text or any(grammar[name].match(text) for name in names.split()) or grammar["prefix"].match(text):
        return True
    if grammar["apart"].match(text):
        return True
    anywhere = any(grammar[name].search(text) for name in ("fiction", "unreal", "doubtful", "reported"))
    return anywhere or bool(grammar.states.match(text)) or any(each.pattern.match(text) for each in grammar.rewrites)


def unled(text: str, grammar: Grammar) -> tuple[str, bool]:
    """`text` without what only leads to a statement ("hi", "please note that"), and whether it asks to be noted."""
    noted = False
    while True:
        text = text.lstrip(" ,.!-–—:")
        found = grammar["note"].match(text)
        noted = noted or found is not None
        found = found or grammar["lead"].match(text)
        if found is None or not found.end():
            return text, noted
        text = text[found.end() :]
