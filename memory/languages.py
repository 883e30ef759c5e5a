"""In which languages a sentence may be read: those whose everyday words it holds most of. Pure."""

import re
from functools import cache, lru_cache

from bm25s.stopwords import STOPWORDS_EN_PLUS, STOPWORDS_FRENCH, STOPWORDS_GERMAN, STOPWORDS_ITALIAN

from condensery.memory.grammar import Grammar, grammars

_LISTED = {"en": STOPWORDS_EN_PLUS, "de": STOPWORDS_GERMAN, "fr": STOPWORDS_FRENCH, "it": STOPWORDS_ITALIAN}
_WORD = re.compile(r"[^\W\d_]+")
_OF_THE_MESSAGE = 0.5
"""How much the whole message counts beside the sentence."""
_NEAR = 0.7
"""Share of the best language's words from which on another one may be meant as well."""


def grammars_for(sentence: str, message: str) -> list[Grammar]:
    """The grammars to read `sentence` with, the likeliest first; more than one when they are close."""
    scores = {grammar: _score(grammar.locale, sentence, message) for grammar in grammars()}
    best = max(scores.values())
    close = [grammar for grammar in scores if scores[grammar] >= _NEAR * best]
    return sorted(close, key=lambda grammar: -scores[grammar])


def _score(locale: str, sentence: str, message: str) -> float:
    return everyday_share(locale, sentence) + _OF_THE_MESSAGE * _share_of_message(locale, message)


@lru_cache(maxsize=16)
def _share_of_message(locale: str, message: str) -> float:
    """As `everyday_share`; a message is asked for again with each of its sentences."""
    return everyday_share(locale, message)


def everyday_share(locale: str, text: str) -> float:
    """The share of the words of `text` that are everyday ones of a language, 0 to 1."""
    words = [word.casefold() for word in _WORD.findall(text)]
    return sum(word in _everyday(locale) for word in words) / max(1, len(words))


@cache
def _everyday(locale: str) -> frozenset[str]:
    own = (word for word in grammars_by_locale()[locale].everyday)
    return frozenset((*_LISTED.get(locale, ()), *own))


@cache
def grammars_by_locale() -> dict[str, Grammar]:
    """The grammars by the code of their locale."""
    return {grammar.locale: grammar for grammar in grammars()}
