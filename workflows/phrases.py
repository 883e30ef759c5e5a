"""Which messages the gate answers itself: whole phrases of small talk, and questions about the assistant."""

import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from condensery.prompts.loader import prompts_for
from condensery.prompts.locales import LOCALES
from condensery.retrieval.text import is_blank

SMALL_TALK = ("greeting", "thanks", "farewell", "acknowledgement")
LONGEST_GATED = 80
"""Characters; a longer message is never small talk."""

_NOT_WORDS = re.compile(r"[^\w']+")


class Gated(NamedTuple):
    """A message the gate answers: the reply's kind and its locale."""

    kind: str
    locale: str


class Consent(NamedTuple):
    """A yes or no, and its locale."""

    given: bool
    locale: str


def bare(message: str) -> str:
    """`message` in lower case, with apostrophes straightened and punctuation and symbols as single spaces."""
    straight = unicodedata.normalize("NFKC", message).replace("’", "'").casefold()
    return _NOT_WORDS.sub(" ", straight).strip()


def gated(message: str, phrases: Mapping[str, Mapping[str, str]], locale: str) -> Gated | None:
    """How the gate answers `message`, or None when it is to be searched for.

    `phrases` maps a locale to its phrases and their kinds; `locale` is tried first. A message made of nothing but
    symbols (an emoji, say) is an acknowledgement. Several phrases in a row ("hi, thanks!") count as the last one.
    """
    if len(message) > LONGEST_GATED or is_blank(message):
        return None
    if not (words := bare(message)):
        return None if "?" in message else Gated("acknowledgement", locale)
    for candidate in sorted(phrases, key=lambda name: name != locale):
        if kind := _kind_of(words, phrases[candidate]):
            return Gated(kind, candidate)
    return None


def _kind_of(words: str, phrases: Mapping[str, str]) -> str | None:
    if words in phrases:
        return phrases[words]
    split = words.split(" ")
    for at in range(1, len(split)):
        if phrases.get(" ".join(split[:at])) in SMALL_TALK and (kind := _kind_of(" ".join(split[at:]), phrases)):
            return kind
    return None


@cache
def all_phrases() -> dict[str, dict[str, str]]:
    """For each locale, its gated phrases (as `bare` gives them) and their kinds."""
    return {
        locale: {bare(phrase): kind for kind, phrases in prompts_for(locale).gate.items() for phrase in phrases}
        for locale in LOCALES
    }


def consent_in(message: str, locale: str) -> Consent | None:
    """The yes or no that `message` is as a whole, maybe with thanks; None for anything else. `locale` is tried first.

    Only words count: a symbol is no consent.
    """
    words = bare(message) if len(message) <= LONGEST_GATED else ""
    for candidate in sorted(LOCALES, key=lambda name: name != locale):
        for given, phrases in _consents(candidate).items():
            if words in phrases or any(_thanks_after(words, phrase, candidate) for phrase in phrases):
                return Consent(given, candidate)
    return None


def _thanks_after(words: str, phrase: str, locale: str) -> bool:
    return words.startswith(f"{phrase} ") and all_phrases()[locale].get(words[len(phrase) + 1 :]) == "thanks"


@cache
def _consents(locale: str) -> dict[bool, frozenset[str]]:
    consent = prompts_for(locale).consent
    return {given: frozenset(map(bare, consent[name])) for given, name in ((True, "yes"), (False, "no"))}
