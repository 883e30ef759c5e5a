"""What a model writes around its reply, taken off: reasoning, echoed labels, invented turns, surrounding quotes.

Order: `<think>` blocks (thinking.py), labels at the start (labels.py), further turns (invented_turns.py), then white
space at both ends. `clean` is the streaming cleaner fed once, so both give the same text by construction.
"""

import re

from condensery.models.invented_turns import TurnFilter
from condensery.models.labels import PASSAGE_LABELS, LabelFilter, strip_label
from condensery.models.thinking import ThinkingFilter
from condensery.retrieval.types import Frozen

_QUOTE_PAIRS = {'"': '"', "'": "'", "“": "”", "„": "“", "”": "”", "«": "»", "»": "«", "‹": "›", "‘": "’", "`": "`"}
_APOSTROPHE = re.compile(r"(?<=\w)['’](?=\w)")


class Cleaned(Frozen):
    """A cleaned reply. `unfinished_thinking`: a reasoning block never ended and nothing but reasoning was written."""

    text: str
    unfinished_thinking: bool = False


class StreamCleaner:
    """Cleans a reply that arrives in pieces; `text` after `finish` is `clean` of the whole, however it was split.

    What `feed` and `finish` return, joined, is that text too, unless `retracted` is true: the reply held a closing
    reasoning tag without an opening one, so what was returned before it turned out to be reasoning.
    """

    def __init__(self) -> None:
        self.retracted = False
        self._returned: list[str] = []
        self._thinking = ThinkingFilter(self._start_over)
        self._start_over()

    def _start_over(self) -> None:
        self.retracted = self.retracted or any(self._returned)
        self._returned = []
        self._labels, self._turns, self._held = LabelFilter(), TurnFilter(), ""

    @property
    def text(self) -> str:
        """The reply so far."""
        return "".join(self._returned)

    @property
    def ended(self) -> bool:
        """Whether the reply is over because the model began to invent the next turn."""
        return self._turns.ended

    @property
    def unfinished_thinking(self) -> bool:
        """Whether a reasoning block is open and no reply was written."""
        return self._thinking.open and not self.text

    def feed(self, delta: str) -> str:
        """Take the next piece of the raw reply; return the piece of the clean one that is certain now."""
        kept = self._thinking.feed(delta)
        return self._return(self._turns.feed(self._labels.feed(kept)))

    def finish(self) -> str:
        """Return what was held back; call it once, at the end."""
        kept = self._thinking.finish()
        labelled = self._labels.feed(kept) + self._labels.finish()
        return self._return(self._turns.feed(labelled) + self._turns.finish())

    def _return(self, piece: str) -> str:
        """White space waits for the word that follows it; at the end it is dropped."""
        text = self._held + piece
        certain = text.rstrip()
        self._held = text[len(certain) :]
        self._returned.append(certain)
        return certain


def clean(text: str) -> Cleaned:
    """Return a whole reply without reasoning, echoed labels, invented turns and surrounding white space."""
    cleaner = StreamCleaner()
    cleaner.feed(text)
    cleaner.finish()
    return Cleaned(text=cleaner.text, unfinished_thinking=cleaner.unfinished_thinking)


def clean_rewrite(text: str) -> Cleaned:
    """Return a rewritten question: `clean`, and also without a bare "Question:" and surrounding quotes."""
    cleaned = clean(text)
    return Cleaned(text=unquote(strip_label(unquote(cleaned.text))), unfinished_thinking=cleaned.unfinished_thinking)


def clean_passage(text: str) -> Cleaned:
    """Return a made-up passage: `clean`, and also without a "Passage:" at its start and quotes around it."""
    cleaned = clean(text)
    passage = unquote(strip_label(unquote(cleaned.text), PASSAGE_LABELS))
    return Cleaned(text=passage, unfinished_thinking=cleaned.unfinished_thinking)


def strip_thinking(text: str) -> Cleaned:
    """Return a reply without its reasoning only; for replies whose form a schema fixes."""
    kept: list[str] = []
    thinking = ThinkingFilter(kept.clear)
    kept.append(thinking.feed(text))
    kept.append(thinking.finish())
    answer = "".join(kept).strip()
    return Cleaned(text=answer, unfinished_thinking=thinking.open and not answer)


def unquote(text: str) -> str:
    """Return one line without the quotes around it; text of several lines, or with such quotes inside, stays as is."""
    line = text.strip()
    inner = line[1:-1]
    closing = _QUOTE_PAIRS.get(line[:1])
    if closing is None or len(line) < 2 or line[-1] != closing or "\n" in line:
        return line
    inside = _APOSTROPHE.sub("", inner)
    return line if line[0] in inside or closing in inside else unquote(inner)
