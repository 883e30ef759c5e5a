"""Citations in generated text: `[n]` counts only when chunk n was sent."""

import re

from condensery.retrieval.types import ScoredChunk
from condensery.workflows.turn import Citation

_NUMBERS = r"\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*"
_MARK = re.compile(rf"(?P<space>\s?)[\[【]\s?(?P<numbers>{_NUMBERS})\s?[\]】]")
_OPEN = re.compile(r"\s?[\[【][\d\s,;–-]{0,24}\Z|\s\Z")
_RANGE = re.compile(r"(\d{1,3})\s?[–-]\s?(\d{1,3})")


class CitationFilter:
    """Checks the citations of a stream as `checked` does those of a text, wherever its pieces are split."""

    def __init__(self, sent: int) -> None:
        self._sent = sent
        self._held = ""

    def feed(self, delta: str) -> str:
        """The text that is now certain."""
        text = checked(self._held + delta, self._sent)
        cut = match.start() if (match := _OPEN.search(text)) else len(text)
        self._held = text[cut:]
        return text[:cut]

    def finish(self) -> str:
        """What was held back at the end of the stream."""
        held, self._held = self._held, ""
        return held


def checked(text: str, sent: int) -> str:
    """`text` with every citation in the form `[n]`, without those of chunks that were not among the `sent` ones.

    `[1, 2]`, `[1-3]` and `【1】` are citations, too.
    """

    def in_our_form(mark: re.Match[str]) -> str:
        marks = "".join(f"[{number}]" for number in _numbers(mark["numbers"]) if 1 <= number <= sent)
        return mark["space"] + marks if marks else ""

    return _MARK.sub(in_our_form, text)


def cited(text: str, chunks: tuple[ScoredChunk, ...]) -> tuple[Citation, ...]:
    """The citations in `text`, each once, in order of appearance; marks without a chunk are none."""
    numbers = dict.fromkeys(number for mark in _MARK.finditer(text) for number in _numbers(mark["numbers"]))
    return tuple(citation(number, chunks[number - 1]) for number in numbers if 1 <= number <= len(chunks))


def citation(number: int, found: ScoredChunk) -> Citation:
    """`[number]` for a chunk as a whole."""
    return Citation(number=number, chunk_id=found.chunk.id, source=found.chunk.source, page=found.chunk.page)


def _numbers(marked: str) -> list[int]:
    spread = _RANGE.sub(lambda ends: ",".join(map(str, range(int(ends[1]), int(ends[2]) + 1))), marked)
    return [int(number) for number in re.findall(r"\d+", spread)]
