"""What tests of storing share: a writer over a real outbox."""

from datetime import datetime
from typing import Any

from condensery.memory.in_memory import InMemoryMemory
from condensery.memory.types import NewFact, OpenMemory, user_scope
from condensery.memory.writing import FindFacts, OutboxWriter
from condensery.settings import Memory
from condensery.storage.database import Database
from condensery.storage.memory import MemoryUsers
from condensery.storage.outbox import MEMORY, OutboxRepository
from condensery.storage.turns import TurnRepository
from condensery.workflows.turn import OutboxEntry, Outcome, Turn, TurnKey

ADA = user_scope("ada")


class Writing:
    """A writer over a real outbox; `found` is what a question's facts are, or what finding them raises."""

    def __init__(self, db: Database, settings: Memory, memory: OpenMemory | None = None) -> None:
        self.memory: OpenMemory = memory or InMemoryMemory()
        self.users = MemoryUsers(db)
        self.outbox = OutboxRepository(db)
        self.turns = TurnRepository(db)
        self.found: list[NewFact] | Exception = [NewFact(text="I live in Oslo.", slot="home")]
        self.asked: list[tuple[str, str]] = []
        self.find: FindFacts = self._told
        self.ruled: list[NewFact] = []
        self.writer = OutboxWriter(self.outbox, self.memory, self.users, self._found, settings, rules=self._by_rules)

    async def say(self, turn_id: str, *, user_id: str | None = "ada", at: datetime | None = None, **turn: Any) -> None:
        """End a turn that began `at` a time of the database's clock, or just now."""
        key = TurnKey(turn_id=turn_id, conversation_id=turn.pop("conversation_id", "c"), user_id=user_id)
        message = turn.pop("message", "I live in Oslo. I'm living in Oslo. My dog is called Rex.")
        ended = Turn(key=key, message=message, answer="b", outcome=Outcome.ANSWERED, **turn)
        entry = OutboxEntry(turn_id=turn_id, kind=MEMORY, payload={"question": "q", "answer": "a"}, said_at=at)
        await self.turns.save(ended, entry)

    async def write(self) -> None:
        """Do whatever is due."""
        while await self.writer.write_next():
            pass

    async def facts(self) -> list[str]:
        return [fact.text for fact in await self.memory.list(scope=ADA)]

    async def _found(self, question: str, answer: str) -> list[NewFact]:
        return await self.find(question, answer)

    async def _by_rules(self, question: str, answer: str) -> list[NewFact]:
        return self.ruled

    async def _told(self, question: str, answer: str) -> list[NewFact]:
        self.asked.append((question, answer))
        if isinstance(self.found, Exception):
            raise self.found
        return self.found
