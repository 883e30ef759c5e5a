"""Model-free: a message that leans on earlier turns is searched for together with their salient terms."""

from collections.abc import Iterable, Sequence

from condensery.settings import Condense
from condensery.workflows.engines.base import PreparedQuery
from condensery.workflows.engines.references import Cues, cues_for, depends
from condensery.workflows.own_words import question_in
from condensery.workflows.turn import Exchange


class ExpandContext:
    """Puts the subject of earlier turns before the message; a message that stands alone stays as it is."""

    def __init__(self, settings: Condense, locale: str) -> None:
        self._settings = settings
        self._locale = locale

    async def prepare(self, message: str, history: Sequence[Exchange]) -> PreparedQuery:
        cues = cues_for(message, self._locale)
        if not depends(message, cues):
            return PreparedQuery(message, message)
        topic = topic_of(history, cues, self._settings.max_chars)
        return PreparedQuery(expand(message, topic, self._settings.max_chars), message)


def topic_of(history: Sequence[Exchange], cues: Cues, max_chars: int) -> list[str]:
    """The earlier messages that say what is talked about, oldest first: back to the last one that stands alone."""
    topic: list[str] = []
    for exchange in reversed(history):
        if not (words := question_in(exchange.message, max_chars)):
            continue
        topic.insert(0, words)
        if not depends(words, cues):
            break
    return topic


def expand(message: str, topic: Iterable[str], max_chars: int) -> str:
    """`topic` before `message`, in at most `max_chars` characters; the oldest topic goes first."""
    kept = [message]
    left = max_chars - len(message)
    for words in reversed(list(topic)):
        left -= len(words) + 1
        if left < 0:
            break
        kept.insert(0, words)
    return " ".join(kept)
