"""What a chat engine is: it turns a message and its history into the text that is searched for."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from condensery.retrieval.types import Probe
from condensery.workflows.turn import Exchange, FallbackReason


@dataclass(frozen=True)
class PreparedQuery:
    """What to search for. `condensed`: whether it differs from what the engine was given.

    `search_query` is the standalone question as one text. `probes`, when given, are what a search weighs in its place;
    the first is what is asked itself.
    """

    search_query: str
    original_query: str
    reason: FallbackReason | None = None
    probes: tuple[Probe, ...] = ()

    @property
    def condensed(self) -> bool:
        return self.search_query != self.original_query


class ChatEngine(Protocol):
    """Prepares the standalone question.

    `message` holds the person's own words, at most `condense.max_chars` characters on one line; `history` is oldest
    first and never empty. An engine may fail or return something unusable: the step falls back to the message.
    """

    async def prepare(self, message: str, history: Sequence[Exchange]) -> PreparedQuery: ...


@runtime_checkable
class ReadsAhead(Protocol):
    """An engine whose model can read the beginning of its next prompt while nobody waits for it."""

    async def read_ahead(self, history: Sequence[Exchange]) -> None: ...


@runtime_checkable
class Lends(Protocol):
    """An engine that puts texts of earlier turns into a search beside the message."""

    def lent(self, history: Sequence[Exchange]) -> list[str]:
        """The texts that the dense arm may be given after `history`, whatever the message: they can be embedded now."""
        ...
