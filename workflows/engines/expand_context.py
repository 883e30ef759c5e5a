"""Model-free: a message that leans on the turns before is searched for together with what they were about.

A search weighs the message, the last questions and the last answers, the latter less the more the message says itself;
as one text the question is the message after its subject. The weights: docs/decisions/expand-context.md.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from condensery.retrieval.text import beginning
from condensery.retrieval.tokenize import terms
from condensery.retrieval.types import Probe
from condensery.settings import Condense
from condensery.workflows.engines.base import PreparedQuery
from condensery.workflows.engines.carrying import WITHHELD, searchable
from condensery.workflows.engines.references import Cues, cues_for, depends, leaning
from condensery.workflows.turn import Exchange

MOST_ANSWER_WORDS = 12

ANSWER_CHARS = 400
"""Of an answer a search sees its beginning, which says what it is about."""

FULL_TERMS = 8
"""A text of more terms counts less in the lexical arm, or a long answer would outweigh the message."""


@dataclass(frozen=True)
class Share:
    """What a text of an earlier turn counts in either arm, where the message itself counts 1."""

    dense: float
    lexical: float


LAST_QUESTION, LAST_ANSWER = Share(0.25, 0.2), Share(0.35, 0.3)
EARLIER_QUESTION, EARLIER_ANSWER = Share(0.05, 0.05), Share(0.0, 0.15)

_WORD = re.compile(r"[\w'’-]+")


class ExpandContext:
    """Lends a message what the last turns were about; one that stands alone stays as it is."""

    def __init__(self, settings: Condense, locale: str) -> None:
        self._settings = settings
        self._locale = locale

    async def prepare(self, message: str, history: Sequence[Exchange]) -> PreparedQuery:
        cues = cues_for(message, self._locale)
        strength = leaning(message, cues)
        earlier = searchable(history, self._settings.max_chars) if strength else []
        if not earlier:
            return PreparedQuery(message, message)
        return PreparedQuery(
            self._text(message, earlier, cues), message, probes=tuple(self._carried(message, earlier, strength))
        )

    def lent(self, history: Sequence[Exchange]) -> list[str]:
        """The texts of earlier turns that the dense arm is given when the next message leans on them."""
        earlier = searchable(history, self._settings.max_chars)
        return [probe.text for probe in self._carried("", earlier, 1.0) if probe.dense and probe.text]

    def _carried(self, message: str, earlier: Sequence[Exchange], strength: float) -> Iterator[Probe]:
        return carried(message, earlier, strength, min(ANSWER_CHARS, self._settings.max_chars))

    def _text(self, message: str, earlier: Sequence[Exchange], cues: Cues) -> str:
        if not depends(message, cues):
            return message
        topic = topic_of(earlier, cues)
        news = new_words(earlier[-1].answer, " ".join([*topic, message]), MOST_ANSWER_WORDS)
        return expand(message, [*topic, news], self._settings.max_chars)


def carried(message: str, earlier: Sequence[Exchange], strength: float, answer_chars: int) -> Iterator[Probe]:
    """The message, and what the last two of the `earlier` turns lend to it: of answers the first `answer_chars`.

    The question of a long message is kept as it was searched for, maybe with words that an answer before it lent.
    """
    yield Probe(text=message)
    for exchange, question, answer in zip(
        reversed(earlier), (LAST_QUESTION, EARLIER_QUESTION), (LAST_ANSWER, EARLIER_ANSWER), strict=False
    ):
        yield weighed(exchange.message, question, strength, told=exchange.shortened)
        if exchange.answer != WITHHELD:
            yield weighed(beginning(exchange.answer, answer_chars), answer, strength, told=True)


def weighed(text: str, share: Share, strength: float, *, told: bool = False) -> Probe:
    """`text` with its share of a search."""
    length = len(terms(text))
    lexical = share.lexical * FULL_TERMS / max(length, FULL_TERMS)
    return Probe(text=text, dense=strength * share.dense, lexical=strength * lexical, told=told)


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
