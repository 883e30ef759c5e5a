"""The words that carry the meaning of a text, in English, German, French and Italian alike, and in other scripts."""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache

import Stemmer
from bm25s.stopwords import STOPWORDS_EN_PLUS, STOPWORDS_FRENCH, STOPWORDS_GERMAN, STOPWORDS_ITALIAN

from condensery.prompts.loader import prompts_for
from condensery.prompts.locales import LOCALES
from condensery.retrieval.tokenize import STOP_WORDS, terms

_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_GROUPING = re.compile(r"(?<=\d)[.,'’\u00a0\u202f ](?=\d{3}(?!\d))")
_DIACRITICS = re.compile("[\u0300-\u036f]")
_ALGORITHMS = ("english", "german", "french", "italian")
SHORTEST_HEAD = 4
"""Letters that the first part of a compound has at least ("Turm" in "Turmhöhe")."""


def content_words(text: str) -> list[str]:
    """The words of `text` as written, in order, less those that every sentence of a language has: "of", "der", "est".

    A text without words of letters, or in a script without spaces, gives its search terms.
    """
    words = [word for word in _WORD.findall(text) if not word.isdecimal() and folded(word) not in common_words()]
    return words if all(word.isascii() or _is_spaced(word) for word in words) else terms(text)


def numbers(text: str) -> set[str]:
    """The numbers of `text` in western digits, without the separators of thousands."""
    return set(_NUMBER.findall(_GROUPING.sub("", "".join(map(_western, text)))))


def folded(word: str) -> str:
    """`word` in lower case and without diacritics."""
    return _DIACRITICS.sub("", unicodedata.normalize("NFKD", word).casefold())


class Vocabulary:
    """The words that were said, to look others up in whatever their inflection."""

    def __init__(self, text: str) -> None:
        words = {folded(part) for word in content_words(text) for part in (word, *word.split("-"))}
        self._words = words
        self._stems = [{_stem(name, word) for word in words} for name in _ALGORITHMS]

    def has(self, word: str) -> bool:
        """Whether `word` was said, in any form; a hyphenated one when each part was."""
        plain = folded(word)
        if plain in self._words or any(
            _stem(name, plain) in stems for name, stems in zip(_ALGORITHMS, self._stems, strict=True)
        ):
            return True
        parts = word.split("-")
        return len(parts) > 1 and all(folded(part) in common_words() or self.has(part) for part in parts)

    def begins(self, word: str) -> bool:
        """Whether `word` is a compound that begins with a word that was said and ends in an ordinary one."""
        plain = folded(word)
        ends = (end for end in ordinary_words() if plain.endswith(end) and len(plain) - len(end) >= SHORTEST_HEAD)
        return any(self.has(head) for end in ends for head in _heads(plain[: -len(end)]))


def _heads(head: str) -> Iterable[str]:
    """The first part of a German compound, with and without the sound that joins it to the second."""
    return (head, head.removesuffix("s"), head.removesuffix("n"), head.removesuffix("en"))


@cache
def common_words() -> frozenset[str]:
    """Words without a meaning of their own, folded."""
    listed = (STOPWORDS_EN_PLUS, STOPWORDS_GERMAN, STOPWORDS_FRENCH, STOPWORDS_ITALIAN, STOP_WORDS)
    asked = (prompts_for(locale).ordinary["interrogatives"] for locale in LOCALES)
    elided = ("l", "d", "qu", "j", "n", "m", "t", "s", "c", "dell", "nell", "all", "dall", "sull", "un", "quest", "dov")
    return frozenset(folded(word) for words in (*listed, *asked, elided) for word in words)


@cache
def ordinary_words() -> frozenset[str]:
    """Words by which a question may be asked in full ("length" for "how long"), folded."""
    return frozenset(folded(word) for locale in LOCALES for word in prompts_for(locale).ordinary["ordinary"])


@lru_cache(maxsize=65_536)
def _stem(algorithm: str, word: str) -> str:
    return str(Stemmer.Stemmer(algorithm).stemWord(word))


def _is_spaced(word: str) -> bool:
    """Whether the script of `word` puts spaces between words: no part of it has pairs of characters as search terms."""
    return all(len(terms(part)) <= 1 for part in word.split("-"))


def _western(character: str) -> str:
    return str(unicodedata.decimal(character)) if character.isdecimal() else character
