"""What people do to their memory while something of theirs is being stored, or waits to be."""

import asyncio
from collections.abc import Sequence

from condensery.memory.in_memory import InMemoryMemory
from condensery.memory.mem0_store import Mem0Memory
from condensery.memory.types import Fact, MemoryScope, NewFact, user_scope
from condensery.settings import Memory as MemorySettings
from condensery.storage.database import Database
from condensery.tests.memory.controlled import controlling, texts
from condensery.tests.memory.written import Writing


async def test_a_fact_is_forgotten_by_its_id_in_capitals_and_does_not_come_back(
    mem0_memory: Mem0Memory, database: Database
) -> None:
    control = controlling(mem0_memory, database)
    writing = Writing(database, MemorySettings(), mem0_memory)
    await writing.say("one")
    await writing.write()
    (fact,) = await control.list("ada")
    await writing.say("waits")
    assert (await control.show("ada", fact.id.upper())).fact == fact
    assert (await control.forget("ada", fact_id=fact.id.upper())).facts == 1
    await writing.write()
    assert await control.list("ada", history=True) == []


async def test_nothing_is_stored_once_memory_is_off_also_what_was_being_stored(database: Database) -> None:
    memory = Held()
    writing, control = Writing(database, MemorySettings(), memory), controlling(memory, database)
    await writing.say("t")
    await writing.writer.write_next()
    storing = asyncio.create_task(writing.writer.write_next())
    await memory.storing.wait()
    switching = asyncio.create_task(control.off("ada"))
    while await control.enabled("ada"):  # noqa: ASYNC110
        await asyncio.sleep(0)
    memory.go_on.set()
    await switching
    assert texts(await memory.list(scope=user_scope("ada"))) == ["I live in Oslo."]
    await storing


class Held(InMemoryMemory):
    """Stores when it is told to go on."""

    def __init__(self) -> None:
        super().__init__()
        self.storing, self.go_on = asyncio.Event(), asyncio.Event()

    async def remember(self, facts: Sequence[NewFact], *, scope: MemoryScope) -> list[Fact]:
        self.storing.set()
        await self.go_on.wait()
        return await super().remember(facts, scope=scope)
