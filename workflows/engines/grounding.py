"""Whether a rewrite says what was said, and nothing else: names, numbers and content words."""

import re

from condensery.workflows.engines.wording import Vocabulary, content_words, folded, numbers, ordinary_words

_INSIDE = re.compile(r"(?<=[\w,;:)»”\"'’] )[\"'«„“]?(?P<name>[^\W\d_][\w'’-]*)")

MOST_NEW = 0.34
"""The share of content words that a rewrite may bring in ("carry" for "transport"), never a new name or number."""


def is_grounded(rewrite: str, conversation: str) -> bool:
    """Whether every number and name of `rewrite`, and most of its content words, occur in `conversation`.

    Inflected forms count as the same word, in English, German, French and Italian. Words by which a question is asked
    in full ("length" for "how long") and compounds with them need not occur.
    """
    if not numbers(rewrite) <= numbers(conversation):
        return False
    said = Vocabulary(conversation)
    words = {folded(word): word for word in content_words(rewrite)}
    new = {plain for plain, word in words.items() if not said.has(word) and not _is_ordinary(word, said)}
    if any(folded(name) in new for name in _names(rewrite)):
        return False
    known = len(words) - len(new)
    return not words or (known > 0 and len(new) <= max(1, MOST_NEW * len(words)))


def _is_ordinary(word: str, said: Vocabulary) -> bool:
    return folded(word) in ordinary_words() or said.begins(word)


def _names(rewrite: str) -> list[str]:
    """Words with a capital that are not the first of the sentence: names, and in German nouns."""
    found = (match["name"] for match in _INSIDE.finditer(rewrite))
    return [name for name in found if name[0].isupper()]


def keeps(rewrite: str, message: str) -> bool:
    """Whether `rewrite` still asks what `message` does: it has at least half of the message's content words.

    Words that any question may be built with do not count; a message of such words alone can be said in any way.
    """
    kept = Vocabulary(rewrite)
    words = {folded(word): word for word in content_words(message)}
    own = [word for plain, word in words.items() if plain not in ordinary_words()]
    return not own or 2 * sum(map(kept.has, own)) >= len(own)


def adds(rewrite: str, message: str) -> bool:
    """Whether `rewrite` names anything that `message` does not."""
    said = Vocabulary(message)
    return not numbers(rewrite) <= numbers(message) or any(not said.has(word) for word in content_words(rewrite))
