"""Erasing facts, and looking afterwards whether any is left."""

import uuid
from dataclasses import dataclass
from datetime import datetime

from condensery.errors import ConfigError, ProviderError
from condensery.memory.ids import short_enough
from condensery.memory.types import Fact, Memory, MemoryScope
from condensery.retrieval.text import is_blank

SEARCHES = 25
"""So many erased facts, the newest, are searched for by their own words; all are looked for in the list."""

SEARCH_LIMIT = 50


@dataclass(frozen=True)
class Erasure:
    """What is to be erased: one fact, the facts of a conversation, or everything when both are None."""

    fact_id: str | None = None
    conversation_id: str | None = None

    @classmethod
    def of(cls, *, fact_id: str | None, conversation_id: str | None = None, everything: bool) -> "Erasure":
        """Exactly one of the three; raises `ConfigError` otherwise, and for a blank id, which must never mean all."""
        given = [fact_id is not None, conversation_id is not None, everything]
        if sum(given) != 1 or any(value is not None and is_blank(value) for value in (fact_id, conversation_id)):
            raise ConfigError("name what to forget: one fact by its id, one conversation by its id, or everything")
        if conversation_id is not None:
            short_enough(conversation_id, "conversation")
        return cls(None if fact_id is None else as_kept(fact_id), conversation_id)

    def covers(self, fact: Fact) -> bool:
        """Whether the fact is among them."""
        if self.fact_id is not None:
            return fact.id == self.fact_id
        return self.conversation_id is None or fact.conversation_id == self.conversation_id

    async def covered(self, memory: Memory, scope: MemoryScope) -> list[Fact]:
        """The facts that it erases, superseded and expired ones too."""
        return [fact for fact in await memory.list(scope=scope, history=True) if self.covers(fact)]

    async def carry_out(self, memory: Memory, scope: MemoryScope, *, before: datetime | None = None) -> int:
        """Erase and return how many facts that were; raises `ProviderError` when one can still be listed or found.

        That is one that was there, or one said `before` a time; what is said later may be stored meanwhile.
        """
        gone = await self.covered(memory, scope)
        erased = await memory.forget(scope=scope, fact_id=self.fact_id, conversation_id=self.conversation_id)
        ids = {fact.id for fact in gone}
        there = [*await self.covered(memory, scope), *await _search(gone[:SEARCHES], memory, scope)]
        if left := {fact.id for fact in there if fact.id in ids or (self.covers(fact) and _is_from(fact, before))}:
            raise ProviderError(f"{len(left)} of the facts to be forgotten are still there; try again")
        return erased


def as_kept(fact_id: str) -> str:
    """An id as facts have it, however it is written: in capitals, too."""
    try:
        return str(uuid.UUID(fact_id))
    except ValueError:
        return fact_id


def _is_from(fact: Fact, before: datetime | None) -> bool:
    return before is not None and fact.said_at <= before


async def _search(facts: list[Fact], memory: Memory, scope: MemoryScope) -> list[Fact]:
    found = []
    for fact in facts:
        found += await memory.recall(fact.text, scope=scope, limit=SEARCH_LIMIT, threshold=0.0)
    return found
