"""Citations in generated text: `[n]` counts only when chunk n was sent."""

import re

from condensery.retrieval.types import ScoredChunk
from condensery.workflows.turn import Citation

_MARK = re.compile(r"\s?\[(\d{1,3})\]")
_OPEN = re.compile(r"\s?\[\d{0,3}\Z|\s\Z")


class CitationFilter:
    """Drops `[n]` marks of chunks that were not sent from a stream, wherever its pieces are split."""

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
    """`text` without the marks of chunks that were not among the `sent` ones."""
    return _MARK.sub(lambda mark: mark.group() if 1 <= int(mark.group(1)) <= sent else "", text)


def cited(text: str, chunks: tuple[ScoredChunk, ...]) -> tuple[Citation, ...]:
    """The citations in `text`, each once, in order of appearance; marks without a chunk are none."""
    numbers = dict.fromkeys(int(number) for number in _MARK.findall(text))
    return tuple(citation(number, chunks[number - 1]) for number in numbers if 1 <= number <= len(chunks))


def citation(number: int, found: ScoredChunk) -> Citation:
    """`[number]` for a chunk as a whole."""
    return Citation(number=number, chunk_id=found.chunk.id, source=found.chunk.source, page=found.chunk.page)
