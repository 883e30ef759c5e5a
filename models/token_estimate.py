"""How many tokens a text has at most, for a model whose tokenizer is out of reach.

Measured against byte-level vocabularies of about 50 000 tokens, the smallest in use: what they split finely (digits,
punctuation, identifiers, scripts other than Latin) counts as split. Larger vocabularies need fewer tokens.
"""

import re

_PARTS = re.compile(r"(?P<letters>[^\W\d_]+)|(?P<space>\s+)|(?P<other>[\W\d_]+?)")
_JOINED = re.compile(r"(?:[a-z]{3,})?(?:[A-Z][a-z]{2,})+")
_HUMP = re.compile(r"[A-Za-z][a-z]+")
_LONGEST_SHOUT = 16
_SPACES_OF_A_TOKEN = 16


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of `text` without a tokenizer, on the high side."""
    return round(sum(_cost(part, text) for part in _PARTS.finditer(text)) + 0.5)


def _cost(part: re.Match[str], text: str) -> float:
    found = part[0]
    after = text[part.end() : part.end() + 1]
    if part.lastgroup == "other":
        return sum(map(_character, found))
    if part.lastgroup == "space":
        # A single space is part of the word after it.
        return 0 if found == " " and after.isalpha() else 1 + found.count("\n") + len(found) // _SPACES_OF_A_TOKEN
    if not found.isascii():
        return sum(0.6 if letter.isascii() else _character(letter) for letter in found)
    before = text[part.start() - 1 : part.start()]
    return _opaque(found) if before.isdigit() or after.isdigit() else _word(found)


def _word(word: str) -> float:
    if len(word) == 1 or word[1:].islower():
        return 1 + max(0, len(word) - 3) / 2.2
    if _JOINED.fullmatch(word):
        return sum(map(_word, _HUMP.findall(word)))
    shouted = word.isupper() and 3 < len(word) < _LONGEST_SHOUT
    return len(word) / 2 if shouted else _opaque(word)


def _opaque(word: str) -> float:
    """Letters that make no word: of a hash, a key, an identifier in mixed case."""
    return max(1.0, 0.95 * len(word))


def _character(character: str) -> float:
    """Tokens of a character: its UTF-8 bytes at most, fewer where a script is common enough to have joined them."""
    code = ord(character)
    if code < 0x80:
        return 1
    if 0x300 <= code < 0x370:  # combining marks
        return 2
    if code < 0x800:
        return 1.5
    if 0x900 <= code < 0xF00 or 0x3000 <= code < 0xA000:  # Indic scripts, Thai; Japanese, Chinese
        return 2
    return 3 if code < 0x10000 else 4
