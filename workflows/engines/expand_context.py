"""Model-free: a message that leans on earlier turns is searched for together with their salient terms."""

import re
from collections.abc import Iterable, Sequence

from condensery.retrieval.tokenize import terms
from condensery.settings import Condense
from condensery.workflows.engines.base import PreparedQuery
from condensery.workflows.engines.carrying import searchable
from condensery.workflows.engines.references import Cues, cues_for, depends
from condensery.workflows.turn import Exchange

MOST_ANSWER_WORDS = 12

_WORD = re.compile(r"[\w'’-]+")


class ExpandContext:
    """Puts the subject of earlier turns before the message; a message that stands alone stays as it is."""

    def __init__(self, settings: Condense, locale: str) -> None:
        self._settings = settings
        self._locale = locale

    async def prepare(self, message: str, history: Sequence[Exchange]) -> PreparedQuery:
        cues = cues_for(message, self._locale)
        if not depends(message, cues):
            return PreparedQuery(message, message)
        earlier = searchable(history, self._settings.max_chars)
        topic = topic_of(earlier, cues)
        news = new_words(earlier[-1].answer, " ".join([*topic, message]), MOST_ANSWER_WORDS) if earlier else ""
        return PreparedQuery(expand(message, [*topic, news], self._settings.max_chars), message)


def topic_of(earlier: Sequence[Exchange], cues: Cues) -> list[str]:
    """The earlier questions that say what is talked about, oldest first: back to the last one that stands alone."""
    topic: list[str] = []
    for exchange in reversed(earlier):
        topic.insert(0, exchange.message)
        if not depends(exchange.message, cues):
            break
    return topic


def new_words(answer: str, said: str, most: int) -> str:
    """The first `most` content words of `answer` that `said` does not have: what the last answer brought in.

    They end with a full stop, so that the message stays the last sentence of the text.
    """
    known = set(terms(said))
    found: list[str] = []
    for word in _WORD.findall(answer):
        if (own := set(terms(word))) and not own <= known and not word.isdecimal():
            found.append(word)
            known |= own
    return f"{' '.join(found[:most])}." if found else ""


def expand(message: str, topic: Iterable[str], max_chars: int) -> str:
    """`topic` before `message`, in at most `max_chars` characters; the oldest topic goes first."""
    kept = [message]
    left = max_chars - len(message)
    for words in filter(None, reversed(list(topic))):
        left -= len(words) + 1
        if left < 0:
            break
        kept.insert(0, words)
    return " ".join(kept)
