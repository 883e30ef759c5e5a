"""People who say, forget and switch off at once, while several writers store: no order of events brings anything back.

What happens is written down with the times at which each call began and ended; whether a fact may, or has to, be there
in the end follows from these alone.
"""

import asyncio
import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from condensery.memory.in_memory import InMemoryMemory
from condensery.memory.mem0_store import Mem0Memory
from condensery.memory.types import Fact, MemoryScope, NewFact, OpenMemory
from condensery.settings import Memory
from condensery.storage.database import Database
from condensery.tests.memory.controlled import controlling
from condensery.tests.memory.written import Writing
from condensery.workflows.turn import OutboxEntry, Outcome, Turn, TurnKey

TEXTS = ("I am tall.", "I speak Welsh.", "I play chess.")
CONVERSATIONS = ("c1", "c2")
WRITERS = 3
LONGEST_PAUSE = 0.1


@dataclass(frozen=True)
class Said:
    """`began`: when its turn had; forgetting from then on is forgetting this."""

    text: str
    conversation: str
    asked: int
    began: int


@dataclass(frozen=True)
class Forgot:
    """`text` or `conversation`, or everything."""

    began: int
    ended: int
    text: str | None = None
    conversation: str | None = None

    def covers(self, said: Said) -> bool:
        return self.text in (None, said.text) and self.conversation in (None, said.conversation)


@dataclass
class Person:
    """One user, and what became of them."""

    name: str
    world: "World"
    said: list[Said] = field(default_factory=list)
    forgot: list[Forgot] = field(default_factory=list)
    offs: list[int] = field(default_factory=list)

    async def live(self, steps: int) -> None:
        """Several lives at once, of which one switches memory off now and then."""
        await asyncio.gather(self._say(steps), self._say(steps), self._forget(steps // 2), self._switch(1))

    async def _say(self, steps: int) -> None:
        for _ in range(steps):
            await self.world.pause()
            asked = self.world.tick()
            at = await self.world.writing.turns.now()
            words = (self.world.random.choice(TEXTS), self.world.random.choice(CONVERSATIONS))
            self.said.append(Said(*words, asked, self.world.tick()))
            await self.world.answer()
            key = TurnKey(turn_id=f"{self.name} {asked}", conversation_id=words[1], user_id=self.name)
            turn = Turn(key=key, message=words[0], answer="a", outcome=Outcome.ANSWERED)
            payload = {"question": words[0], "answer": ""}
            entry = OutboxEntry(turn_id=key.turn_id, kind="memory", payload=dict(payload), said_at=at)
            await self.world.writing.turns.save(turn, entry)

    async def _forget(self, steps: int) -> None:
        for _ in range(steps):
            await self.world.pause()
            await self.check_forgotten()
            began = self.world.tick()
            listed = await self.world.control.list(self.name, history=True)
            match self.world.random.choice(("everything", "conversation", "fact", "fact", "fact", "fact")):
                case "everything":
                    await self.world.control.forget(self.name, everything=True)
                    self.forgot.append(Forgot(began, self.world.tick()))
                case "conversation":
                    where = self.world.random.choice(CONVERSATIONS)
                    await self.world.control.forget(self.name, conversation_id=where)
                    self.forgot.append(Forgot(began, self.world.tick(), conversation=where))
                case "fact" if listed:
                    fact = self.world.random.choice(listed)
                    await self.world.control.forget(self.name, fact_id=fact.id)
                    self.forgot.append(Forgot(began, self.world.tick(), text=fact.text))

    async def _switch(self, times: int) -> None:
        for _ in range(times):
            await self.world.pause()
            self.offs.append(self.world.tick())
            await self.world.control.off(self.name)
            await self.world.settle(self.name)
            before = await self._ids()
            await self.world.pause()
            await self.world.settle(self.name)
            assert await self._ids() <= before, "something was stored while memory was off"
            await self.world.control.on(self.name)
            self.offs.append(self.world.tick())

    async def _ids(self) -> set[str]:
        return {fact.id for fact in await self.world.control.list(self.name, history=True)}

    async def check_forgotten(self) -> None:
        """No fact is there from a turn that began before it was forgotten."""
        forgot = tuple(self.forgot)
        for fact in await self.world.control.list(self.name, history=True):
            (said,) = (each for each in self.said if f"{self.name} {each.asked}" == fact.turn_id)
            assert not any(each.covers(said) and each.began > said.began for each in forgot), "forgotten, and there"

    async def check(self) -> None:
        """Nothing forgotten is there; what nothing happened to since it was said, is, and once."""
        await self.check_forgotten()
        there = [fact.text for fact in await self.world.control.list(self.name)]
        assert len(set(there)) == len(there)
        for text in TEXTS:
            if any(self._is_kept(each) for each in self.said if each.text == text):
                assert text in there, "said afterwards, and lost"

    def _is_kept(self, said: Said) -> bool:
        """A fact is known once, from whichever conversation it was first: forgetting any counts."""
        later = [each for each in self.forgot if each.text in (None, said.text) and each.ended > said.asked]
        return not later and all(switched < said.asked for switched in self.offs)


class Slow(InMemoryMemory):
    """Takes some time to store, as others do."""

    async def remember(self, facts: Sequence[NewFact], *, scope: MemoryScope) -> list[Fact]:
        await asyncio.sleep(LONGEST_PAUSE / 10)
        return await super().remember(facts, scope=scope)


class World:
    """Everybody, and the writers."""

    def __init__(self, database: Database, memory: OpenMemory, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311
        self.control = controlling(memory, database)
        self.writing = Writing(database, Memory(retry_seconds=0.001), memory)
        self.writing.find = self._find
        self._clock = itertools.count()

    def tick(self) -> int:
        """A time of its own for everything that happens in this process."""
        return next(self._clock)

    async def _find(self, question: str, answer: str) -> list[NewFact]:
        await self.pause()
        return [NewFact(text=question)]

    async def answer(self) -> None:
        """As long as a model may take."""
        await asyncio.sleep(self.random.random() * LONGEST_PAUSE * 2)

    async def pause(self) -> None:
        """Let others do something."""
        await asyncio.sleep(self.random.choice((0, 0, self.random.random() * LONGEST_PAUSE)))

    async def settle(self, user: str) -> None:
        """Wait until nothing of a user waits."""
        while await self.writing.outbox.of_user(user):  # noqa: ASYNC110
            await asyncio.sleep(0.005)

    async def write(self) -> None:
        """A writer that never ends."""
        while True:
            if not await self.writing.writer.write_next():
                await asyncio.sleep(0.005)


async def live(world: World, *, people: int, steps: int) -> list[Person]:
    """Let everybody live, and everything be stored."""
    everybody = [Person(f"user {number}", world) for number in range(people)]
    writers = [asyncio.create_task(world.write()) for _ in range(WRITERS)]
    try:
        async with asyncio.timeout(300):
            await asyncio.gather(*(person.live(steps) for person in everybody))
            for person in everybody:
                await world.settle(person.name)
    finally:
        for writer in writers:
            writer.cancel()
        await asyncio.gather(*writers, return_exceptions=True)
    return everybody


@pytest.mark.parametrize("seed", [1, 2])
async def test_whatever_the_order_nothing_forgotten_comes_back_and_nothing_else_is_lost(
    database: Database, seed: int
) -> None:
    everybody = await live(World(database, Slow(), seed), people=8, steps=6)
    for person in everybody:
        await person.check()
    assert sum(len(person.said) + len(person.forgot) for person in everybody) >= 80  # how often is chance


async def test_nor_does_it_with_mem0(database: Database, mem0_memory: Mem0Memory) -> None:
    for person in await live(World(database, mem0_memory, 3), people=4, steps=4):
        await person.check()
