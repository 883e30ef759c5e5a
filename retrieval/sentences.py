"""Sentence boundaries with exact offsets, for prose in space-separated and in CJK scripts."""

import re

_ABBREVIATION_LIST = (
    "al approx assn ave bzw ca cf co corp dept dr e.g ed eds eg est etc gen i.e ie inc jr ltd messrs mr mrs ms mt "
    "p.s prof rev s.a sr st str u.a u.k u.s usw v vgl vs z.b"
)
_BEFORE_NUMBER_LIST = (
    "apr art aug ch chap dec eq feb fig figs jan jul jun mar max min no nos nov nr oct p para pp sec sep sept tab vol"
)
_ABBREVIATIONS = frozenset(_ABBREVIATION_LIST.split())
_BEFORE_NUMBERS = frozenset(_BEFORE_NUMBER_LIST.split())
_LONGEST_WORD = 40
_END = re.compile(r"""[.!?…]+["'”’»)\]]*(?=\s)|[。！？｡]+[」』”’）]*|\n[^\S\n]*\n""")
_NEXT_WORD = re.compile(r"[^\S\n]*\n?\s*(\S)")


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return the (start, end) character offsets of the sentences of `text`, in order, without surrounding space.

    A blank line ends a sentence; a full stop after an abbreviation, an initial or a list number does not. Nothing
    but white space lies between the spans.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _END.finditer(text):
        if not _is_abbreviation(text, start, match):
            _append(spans, text, start, match.end())
            start = match.end()
    _append(spans, text, start, len(text))
    return spans


def _append(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    stripped = piece.strip()
    if stripped:
        offset = start + len(piece) - len(piece.lstrip())
        spans.append((offset, offset + len(stripped)))


def _is_abbreviation(text: str, start: int, match: re.Match[str]) -> bool:
    """Whether the full stop found at `match` belongs to the word before it; `start` is where the sentence began."""
    if match.group() != ".":
        return False
    next_word = _NEXT_WORD.match(text, match.end())
    following = next_word.group(1) if next_word else ""
    words = text[max(start, match.start() - _LONGEST_WORD) : match.start()].split()
    last = words[-1].lstrip("([\"'“‘") if words else ""
    is_initial = len(last) == 1 and last.isupper() and last != "I"
    starts_item = text[start : min(start + 5, match.start())].strip() == last and last.isdecimal()
    before_number = last.lower() in _BEFORE_NUMBERS and following.isdecimal()
    return following.islower() or is_initial or starts_item or before_number or last.lower() in _ABBREVIATIONS
