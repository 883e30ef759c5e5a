"""A `Memory` that a process keeps to itself: for tests, and as the least that the protocol asks for."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar

from condensery.memory.days import is_over
from condensery.memory.placing import place_of
from condensery.memory.types import Fact, MemoryScope, NewFact
from condensery.models.embedding import Embedder
from condensery.workflows.engines.wording import content_words, folded

_held: ContextVar[frozenset[asyncio.Lock]] = ContextVar("held", default=frozenset())


class InMemoryMemory:
    """Facts in a dictionary. A fact fits a question by cosine with an `embedder`, else by the words they share."""

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder
        self._kept: dict[MemoryScope, dict[str, Fact]] = {}
        self._locks: dict[MemoryScope, asyncio.Lock] = {}

    ready = True

    async def recall(self, question: str, *, scope: MemoryScope, limit: int, threshold: float) -> list[Fact]:
        """The facts that hold today and fit by at least `threshold`, best first."""
        current = await self.list(scope=scope)
        scores = await self._scores(question, current)
        fitting = [
            fact.model_copy(update={"score": score})
            for fact, score in zip(current, scores, strict=True)
            if score >= threshold
        ]
        return sorted(fitting, key=lambda fact: -(fact.score or 0))[: max(limit, 0)]

    async def remember(self, facts: Sequence[NewFact], *, scope: MemoryScope) -> list[Fact]:
        """Keep what is new, and supersede what it takes the place of."""
        async with self.locked(scope):
            kept = [await self._keep(fact, scope) for fact in facts]
        return [fact for fact in kept if fact is not None]

    async def list(self, *, scope: MemoryScope, history: bool = False) -> list[Fact]:
        """The facts of `scope`, the newest first."""
        facts = [fact for fact in self._facts(scope).values() if history or _holds(fact)]
        return sorted(facts, key=lambda fact: (fact.said_at, fact.id), reverse=True)

    async def forget(
        self, *, scope: MemoryScope, fact_id: str | None = None, conversation_id: str | None = None
    ) -> int:
        """Erase what fits all that is given, or everything."""
        facts = self._facts(scope)
        async with self.locked(scope):
            gone = [
                fact.id
                for fact in facts.values()
                if fact_id in (None, fact.id) and conversation_id in (None, fact.conversation_id)
            ]
            for each in gone:
                del facts[each]
        return len(gone)

    @asynccontextmanager
    async def locked(self, scope: MemoryScope) -> AsyncIterator[None]:
        """Keep other writers of `scope` waiting; within the block, its task holds it already."""
        lock = self._locks.setdefault(scope, asyncio.Lock())
        if lock in _held.get():
            yield
            return
        async with lock:
            token = _held.set(_held.get() | {lock})
            try:
                yield
            finally:
                _held.reset(token)

    async def erase_expired(self) -> None:
        """Erase every fact whose last day has passed."""
        for facts in self._kept.values():
            for gone in [fact.id for fact in facts.values() if is_over(fact.expires_on)]:
                del facts[gone]

    async def warm(self) -> None:
        """Nothing is to be loaded."""

    def _facts(self, scope: MemoryScope) -> dict[str, Fact]:
        return self._kept.setdefault(scope, {})

    async def _keep(self, new: NewFact, scope: MemoryScope) -> Fact | None:
        facts = self._facts(scope)
        if new.turn_id is not None and any(
            (fact.turn_id, fact.text) == (new.turn_id, new.text) for fact in facts.values()
        ):
            return None
        place = place_of(new, [fact for fact in facts.values() if _holds(fact)])
        if place.known:
            return None
        fact = Fact(**dict(new), id=str(uuid.uuid4()))
        if place.newer is not None:
            fact = _superseded(fact, place.newer)
        facts[fact.id] = fact
        facts.update({old.id: _superseded(old, fact) for old in place.older})
        return fact

    async def _scores(self, question: str, facts: Sequence[Fact]) -> Sequence[float]:
        if self._embedder is None:
            return [_shared(question, fact.text) for fact in facts]
        asked = await self._embedder.embed_query(question)
        vectors = await self._embedder.embed_documents([fact.text for fact in facts])
        return [max(0.0, sum(a * b for a, b in zip(asked, vector, strict=True))) for vector in vectors]


def _superseded(old: Fact, by: Fact) -> Fact:
    return old.model_copy(update={"superseded_by": by.id, "superseded_at": by.said_at})


def _holds(fact: Fact) -> bool:
    return fact.superseded_by is None and not is_over(fact.expires_on)


def _shared(question: str, text: str) -> float:
    """The share of the shorter one's words that are in the other."""
    asked, said = ({folded(word) for word in content_words(each)} for each in (question, text))
    return len(asked & said) / max(1, min(len(asked), len(said)))
