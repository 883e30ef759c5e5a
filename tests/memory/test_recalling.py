"""Recalling is never in the way of an answer: it is late, or fails, and the turn goes on with the reason."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from condensery.errors import ProviderError
from condensery.memory.in_memory import InMemoryMemory
from condensery.memory.recalling import Recaller
from condensery.memory.types import Fact, MemoryScope, NewFact, organization_scope, user_scope
from condensery.settings import Memory
from condensery.tracing import noting


async def yes(user_id: str) -> bool:
    return True


async def no(user_id: str) -> bool:
    return False


class Failing(InMemoryMemory):
    """Recalls late, or not at all."""

    def __init__(self, failure: Exception | None) -> None:
        super().__init__()
        self._failure = failure

    async def recall(self, question: str, *, scope: MemoryScope, limit: int, threshold: float) -> list[Fact]:
        if self._failure is None:
            await asyncio.Event().wait()
        raise self._failure  # type: ignore[misc]


@asynccontextmanager
async def known() -> AsyncIterator[InMemoryMemory]:
    memory = InMemoryMemory()
    await memory.remember([NewFact(text="I like green tea.")], scope=user_scope("ada"))
    await memory.remember([NewFact(text="Our tea is free.")], scope=organization_scope("acme"))
    yield memory


async def test_each_scope_gives_its_own_facts() -> None:
    async with known() as memory:
        recaller = Recaller(memory, yes, Memory(threshold=0.1))
        assert [fact.text for fact in await recaller.of_user("ada", "Is there tea?")] == ["I like green tea."]
        assert [fact.text for fact in await recaller.of_organization("acme", "Is there tea?")] == ["Our tea is free."]
        assert await recaller.of_user("acme", "Is there tea?") == ()
        assert await recaller.of_organization("ada", "Is there tea?") == ()


@pytest.mark.parametrize(
    ("settings", "is_on"), [(Memory(enabled=False), yes), (Memory(limit=0), yes), (Memory(), no)], ids=str
)
async def test_who_switched_memory_off_is_told_nothing(settings: Memory, is_on: object) -> None:
    async with known() as memory:
        recaller = Recaller(memory, is_on, settings.model_copy(update={"threshold": 0.1}))  # type: ignore[arg-type]
        assert await recaller.of_user("ada", "Is there tea?") == ()


async def test_nobody_has_no_memory() -> None:
    async with known() as memory:
        recaller = Recaller(memory, yes, Memory(threshold=0.1))
        assert await recaller.of_user(None, "Is there tea?") == ()
        assert await recaller.of_organization(None, "Is there tea?") == ()


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (None, "it took longer than 0.05 s (memory.seconds)"),
        (ProviderError("the database is out of reach"), "the database is out of reach"),
        (RuntimeError("I live in Oslo"), "the memory failed; the log has the details"),
    ],
)
async def test_a_recall_that_is_late_or_fails_is_no_recall_with_the_reason(
    failure: Exception | None, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    recaller = Recaller(Failing(failure), yes, Memory(seconds=0.05))
    with noting() as notes:
        assert await recaller.of_user("ada", "Is there tea?") == ()
    assert list(notes) == [f"nothing recalled: {reason}"]
    assert notes.degraded
    assert "Oslo" not in "\n".join(record.getMessage() for record in caplog.records if record.levelname != "DEBUG")


async def test_the_deadline_holds_for_whether_memory_is_on_as_well() -> None:
    async def never(user_id: str) -> bool:
        await asyncio.Event().wait()
        return True

    with noting() as notes:
        assert await Recaller(InMemoryMemory(), never, Memory(seconds=0.05)).of_user("ada", "Is there tea?") == ()
    assert list(notes) == ["nothing recalled: it took longer than 0.05 s (memory.seconds)"]


async def test_a_memory_that_has_still_to_be_opened_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    class Opening(InMemoryMemory):
        ready = False

        async def recall(self, question: str, *, scope: MemoryScope, limit: int, threshold: float) -> list[Fact]:
            await asyncio.sleep(0.1)
            return await super().recall(question, scope=scope, limit=limit, threshold=0)

    memory = Opening()
    await memory.remember([NewFact(text="I like green tea.")], scope=user_scope("ada"))
    recaller = Recaller(memory, yes, Memory(seconds=0.01))
    assert [fact.text for fact in await recaller.of_user("ada", "Is there tea?")] == ["I like green tea."]
    monkeypatch.setattr("condensery.memory.recalling.OPENING_SECONDS", 0.01)
    assert await recaller.of_user("ada", "Is there tea?") == ()
