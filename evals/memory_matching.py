"""Whether two statements are the same fact about a person, as a pure function: no model, no order of words.

Both are reduced to their content words: stemmed, without accents, without articles, pronouns, prepositions, forms of
"be" and "have", words for being called something, and "the user". Then they must agree

- in whose fact it is (the people it names, and whether it begins with "he" or "she"), in being negated, in being wished
  or supposed, and in being over;
- in every number and in every word of the shorter one. The longer one may say a little more: up to half as many words
  again, none of them a number, a name or a person. German writes all nouns as it writes names: there any word counts.

So "I live in Oslo." is "lives in Oslo" and "the user lives in Oslo", and neither "I live in Bergen" nor "my brother
lives in Oslo" nor "I don't live in Oslo" nor "I used to live in Oslo".
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

import Stemmer

from condensery.evals.memory_words import LANGUAGES, WORDS, Words

_TOKEN = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+")


@dataclass(frozen=True)
class Content:
    """A statement as it is compared: content words, those of them with a part of their own, and its mood."""

    words: frozenset[str]
    numbers: frozenset[str]
    names: frozenset[str]
    others: frozenset[str]
    mood: tuple[bool, bool, bool, bool]

    @property
    def fixed(self) -> frozenset[str]:
        """The words that no other statement may have in addition."""
        return self.numbers | self.names | self.others


def same_fact(one: str, other: str, language: str) -> bool:
    """Whether both state the same fact; `language` is one of `LANGUAGES`."""
    first, second = content(one, language), content(other, language)
    if (first.mood, first.numbers, first.others) != (second.mood, second.numbers, second.others):
        return False
    short, long = sorted((first, second), key=lambda each: len(each.words))
    if not short.words:
        return not long.words and _folded(one.lower()) == _folded(other.lower())
    more = long.words - short.words
    return short.words <= long.words and len(more) <= len(short.words) // 2 and not more & long.fixed


def content(text: str, language: str) -> Content:
    """The content of one statement."""
    words, found = WORDS[language], list(_tokens(text, WORDS[language]))
    tokens = [token for token, _ in found]
    kept = {token: _stemmed(token, language) for token in tokens if _says_something(token, words)}
    return Content(
        words=frozenset(kept.values()),
        numbers=frozenset(token for token in kept if token[0].isdigit()),
        names=frozenset()
        if language == "de"
        else frozenset(kept[token] for token, name in found if name and token in kept),
        others=frozenset(kept[token] for token in kept if token in words.others),
        mood=(
            any(token in words.negations for token in tokens),
            any(token in words.unreal for token in tokens),
            any(token in words.past for token in tokens),
            bool(tokens) and tokens[0] in words.he,
        ),
    )


def overlap(one: str, other: str, language: str) -> float:
    """The share of content words that two statements have in common, 0 to 1 (Jaccard)."""
    first, second = content(one, language).words, content(other, language).words
    return len(first & second) / len(first | second) if first | second else 0.0


def carried(fact: str, message: str, language: str) -> bool:
    """Whether `message` holds every content word of `fact`."""
    return content(fact, language).words <= content(message, language).words


def language_of(texts: Iterable[str]) -> str:
    """The language most of whose empty words occur in `texts`; English when none does."""
    tokens = [token for text in texts for token in _TOKEN.findall(_folded(text.lower()))]
    return max(LANGUAGES, key=lambda each: sum(token in WORDS[each].empty for token in tokens))


def _tokens(text: str, words: Words) -> Iterator[tuple[str, bool]]:
    """Each word, lower-case and without accents, and whether it is written as a name."""
    for number, match in enumerate(_TOKEN.finditer(_with_apart(text))):
        token = _folded(match.group().lower())
        yield words.same.get(token, token), number > 0 and match.group()[0].isupper()


def _with_apart(text: str) -> str:
    """The text with "not" of its own in English contractions, its case as it was."""
    return re.sub(r"n['’]t\b", " not", text)


def _says_something(token: str, words: Words) -> bool:
    return not any(token in each for each in (words.empty, words.negations, words.unreal, words.past, words.he))


def _stemmed(token: str, language: str) -> str:
    return token if token[0].isdigit() else str(_stemmer(language).stemWord(token))


@cache
def _stemmer(language: str) -> Stemmer.Stemmer:
    return Stemmer.Stemmer(WORDS[language].stemmer)


def _folded(text: str) -> str:
    marked = unicodedata.normalize("NFKD", text.replace("œ", "oe").replace("ß", "ss"))
    return "".join(letter for letter in marked if not unicodedata.combining(letter))
