import json
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest

from condensery.errors import ConfigError, ProviderError
from condensery.memory.control import MemoryControl
from condensery.memory.mem0_store import Mem0Memory
from condensery.memory.types import Fact, Memory, MemoryScope, NewFact, user_scope
from condensery.settings import Memory as MemorySettings
from condensery.storage.database import Database
from condensery.storage.memory import MemoryUsers
from condensery.storage.outbox import OutboxRepository
from condensery.tests.memory.controlled import BLANK, CLOSES, SAID, controlling, keep, park, say, texts
from condensery.tests.memory.written import Writing


@pytest.fixture
def memory(mem0_memory: Mem0Memory) -> Mem0Memory:
    return mem0_memory


@pytest.fixture
def control(memory: Mem0Memory, database: Database) -> MemoryControl:
    return controlling(memory, database)


async def test_a_user_sees_their_own_facts_the_newest_first(memory: Memory, control: MemoryControl) -> None:
    await keep(memory, "ada", "I live in Oslo.", "My dog is called Rex.")
    await keep(memory, "bob", "I am a nurse.")
    assert texts(await control.list("ada")) == ["My dog is called Rex.", "I live in Oslo."]
    assert texts(await control.list("bob")) == ["I am a nurse."]
    assert await control.list("carol") == []


async def test_a_fact_is_shown_with_where_it_is_from_and_what_it_superseded(
    memory: Memory, control: MemoryControl
) -> None:
    old, new = await keep(memory, "ada", "I live in Oslo.", "I live in Bergen.", slot="home")
    shown = await control.show("ada", new.id)
    assert (shown.fact.turn_id, shown.fact.conversation_id) == ("t I live in Bergen.", "c")
    assert shown.fact.said_at == SAID + timedelta(hours=1)
    assert texts(shown.superseded) == ["I live in Oslo."]
    assert shown.superseded_by is None
    before = await control.show("ada", old.id)
    assert before.superseded_by is not None
    assert before.superseded_by.id == new.id
    assert texts(await control.list("ada")) == ["I live in Bergen."]
    assert len(await control.list("ada", history=True)) == 2


async def test_another_users_fact_does_not_exist(memory: Memory, control: MemoryControl) -> None:
    (fact,) = await keep(memory, "ada", "I live in Oslo.")
    with pytest.raises(ConfigError, match="has no fact"):
        await control.show("bob", fact.id)
    assert (await control.forget("bob", fact_id=fact.id)).facts == 0
    assert texts(await control.list("ada")) == ["I live in Oslo."]


async def test_one_fact_is_forgotten_and_no_search_finds_it(memory: Memory, control: MemoryControl) -> None:
    fact, _ = await keep(memory, "ada", "I live in Oslo.", "My dog is called Rex.")
    assert (await control.forget("ada", fact_id=fact.id)).facts == 1
    found = await memory.recall("Where do I live?", scope=user_scope("ada"), limit=10, threshold=0.0)
    assert texts(found) == ["My dog is called Rex."]
    assert (await control.forget("ada", fact_id=fact.id)).facts == 0


async def test_a_forgotten_fact_is_not_stored_once_more_by_a_row_that_was_done_but_not_removed(
    memory: Memory, control: MemoryControl, database: Database
) -> None:
    (fact,) = await keep(memory, "ada", "I live in Oslo.")
    listed = [{"text": "I live in Oslo."}, {"text": "My dog is called Rex."}]
    await say(database, "t I live in Oslo.", facts=listed)
    await control.forget("ada", fact_id=fact.id)
    (row,) = await OutboxRepository(database).of_user("ada")
    assert row.payload["facts"] == [{"text": "My dog is called Rex."}]


async def test_a_conversation_is_forgotten_with_what_waits_of_it(
    memory: Memory, control: MemoryControl, database: Database
) -> None:
    await keep(memory, "ada", "I live in Oslo.", conversation="c1")
    await keep(memory, "ada", "My dog is called Rex.", conversation="c2")
    await keep(memory, "bob", "I am a nurse.", conversation="c1")
    await say(database, "t1", conversation="c1")
    await say(database, "t2", conversation="c2")
    forgotten = await control.forget("ada", conversation_id="c1")
    assert (forgotten.facts, forgotten.waiting) == (1, 1)
    assert texts(await control.list("ada", history=True)) == ["My dog is called Rex."]
    assert texts(await control.list("bob")) == ["I am a nurse."]
    assert [row.turn_id for row in await OutboxRepository(database).of_user("ada")] == ["t2"]
    users = MemoryUsers(database)
    assert await users.forgotten_since("ada", "c1", SAID)
    assert not await users.forgotten_since("ada", "c2", SAID)
    assert not await users.forgotten_since("bob", "c1", SAID)


async def test_everything_is_forgotten_history_and_waiting_turns_included(
    memory: Memory, control: MemoryControl, database: Database
) -> None:
    await keep(memory, "ada", "I live in Oslo.", "I live in Bergen.", slot="home")
    await keep(memory, "bob", "I live in Oslo.")
    await park(database, "parked")
    await say(database, "waiting")
    forgotten = await control.forget("ada", everything=True)
    assert (forgotten.facts, forgotten.waiting) == (2, 2)
    assert await control.list("ada", history=True) == []
    assert await memory.recall("I live in Bergen.", scope=user_scope("ada"), limit=10, threshold=0.0) == []
    assert texts(await control.list("bob")) == ["I live in Oslo."]
    assert await MemoryUsers(database).forgotten_since("ada", "any", SAID)
    assert (await control.forget("ada", everything=True)).facts == 0


@pytest.mark.parametrize("everything", [True, False])
async def test_what_is_said_after_forgetting_is_kept(
    memory: Mem0Memory, control: MemoryControl, database: Database, everything: bool
) -> None:
    writing = Writing(database, MemorySettings(), memory)
    await writing.say("before")
    await writing.write()
    (fact,) = await control.list("ada")
    await control.forget("ada", **({"everything": True} if everything else {"fact_id": fact.id}))
    assert await control.list("ada") == []
    await writing.say("later")
    await writing.write()
    assert [(fact.text, fact.turn_id) for fact in await control.list("ada")] == [("I live in Oslo.", "later")]


async def test_what_a_forgotten_fact_had_superseded_stays_superseded_and_points_to_nothing(
    memory: Memory, control: MemoryControl
) -> None:
    old, new = await keep(memory, "ada", "I live in Oslo.", "I live in Bergen.", slot="home")
    await control.forget("ada", fact_id=new.id)
    assert await control.list("ada") == []
    (listed,) = await control.list("ada", history=True)
    shown = await control.show("ada", old.id)
    for fact in (listed, shown.fact):
        assert (fact.id, fact.superseded_by, fact.superseded_at) == (old.id, None, new.said_at)
    assert new.id not in json.dumps(await control.export("ada"))


class Forgetful:
    """A memory that says it has erased facts, and still has them: in its list, or only where it searches."""

    def __init__(self, memory: Mem0Memory, *, listed: bool) -> None:
        self._memory = memory
        self._listed = listed
        self._forgot = False
        self.locked = memory.locked

    async def recall(self, question: str, *, scope: MemoryScope, limit: int, threshold: float) -> list[Fact]:
        return await self._memory.recall(question, scope=scope, limit=limit, threshold=threshold)

    async def remember(self, facts: Sequence[NewFact], *, scope: MemoryScope) -> list[Fact]:
        return await self._memory.remember(facts, scope=scope)

    async def forget(self, **which: Any) -> int:
        self._forgot = True
        return 1

    async def list(self, *, scope: MemoryScope, history: bool = False) -> list[Fact]:
        gone = self._forgot and not self._listed
        return [] if gone else await self._memory.list(scope=scope, history=history)


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("which", [{"everything": True}, {"conversation_id": "c"}, {}])
async def test_forgetting_that_leaves_something_is_an_error(
    memory: Mem0Memory, database: Database, listed: bool, which: dict[str, Any]
) -> None:
    (fact,) = await keep(memory, "ada", "I live in Oslo.")
    control = controlling(Forgetful(memory, listed=listed), database)
    with pytest.raises(ProviderError, match="1 of the facts to be forgotten are still there"):
        await control.forget("ada", **(which or {"fact_id": fact.id}))


@pytest.mark.parametrize(
    "which",
    [
        {},
        {"fact_id": ""},
        {"conversation_id": " "},
        {"fact_id": "f", "everything": True},
        {"fact_id": "f", "conversation_id": "c"},
    ],
)
async def test_what_is_to_be_forgotten_must_be_named(
    memory: Memory, control: MemoryControl, database: Database, which: dict[str, Any]
) -> None:
    await keep(memory, "ada", "I live in Oslo.")
    await say(database, "t")
    with pytest.raises(ConfigError, match="name what to forget"):
        await control.forget("ada", **which)
    assert len(await control.list("ada")) == 1
    assert len(await OutboxRepository(database).of_user("ada")) == 1


async def test_what_is_stored_can_be_seen_and_forgotten_while_memory_is_off(
    memory: Memory, control: MemoryControl
) -> None:
    (fact,) = await keep(memory, "ada", "I live in Oslo.")
    await control.off("ada")
    state = await control.state("ada")
    assert (state.enabled, state.allowed, state.on, state.facts) == (False, True, False, 1)
    assert (await control.state("bob")).on
    assert (await control.show("ada", fact.id)).fact.text == "I live in Oslo."
    assert (await control.export("ada"))["enabled"] is False
    assert (await control.forget("ada", everything=True)).facts == 1
    await control.on("ada")
    assert (await control.state("ada")).on


async def test_an_export_has_everything_of_that_user_and_nothing_of_another(
    memory: Memory, control: MemoryControl, database: Database
) -> None:
    await keep(memory, "ada", "I live in Oslo.", "I live in Bergen.", slot="home")
    await keep(memory, "bob", "I am bob's secret.")
    await park(database, "parked")
    await say(database, "waiting")
    await say(database, "bobs", user="bob")
    await control.propose("acme", CLOSES, by="ada")
    exported = await control.export("ada")
    said = json.dumps(exported)
    assert [(fact["text"], fact["superseded_by"] is None) for fact in exported["facts"]] == [
        ("I live in Bergen.", True),
        ("I live in Oslo.", False),
    ]
    assert exported["facts"][0]["turn_id"] == "t I live in Bergen."
    assert [row["payload"]["question"] for row in exported["waiting"]] == ["question waiting"]
    assert [row["last_error"] for row in exported["parked"]] == ["the model is out of reach"]
    assert [proposal["text"] for proposal in exported["proposals"]] == [CLOSES]
    assert (exported["user_id"], exported["enabled"]) == ("ada", True)
    assert "bob" not in said


async def test_parked_turns_are_tried_again_by_their_user_or_for_everybody(
    control: MemoryControl, database: Database
) -> None:
    await park(database, "a1")
    await park(database, "a2")
    await park(database, "b", user="bob")
    first, _ = await control.parked("ada")
    assert await control.retry("bob", [first.id]) == 0
    assert await control.retry("ada", [first.id]) == 1
    assert [row.turn_id for row in await control.parked(None, everybody=True)] == ["a2", "b"]
    assert (await control.state("ada")).waiting == 1
    assert await control.retry(None, everybody=True) == 2


Use = Callable[[MemoryControl, Any], Awaitable[Any]]

USES: tuple[Use, ...] = (
    lambda control, blank: control.list(blank),
    lambda control, blank: control.show(blank, "f"),
    lambda control, blank: control.export(blank),
    lambda control, blank: control.forget(blank, everything=True),
    lambda control, blank: control.on(blank),
    lambda control, blank: control.off(blank),
    lambda control, blank: control.enabled(blank),
    lambda control, blank: control.state(blank),
    lambda control, blank: control.parked(blank),
    lambda control, blank: control.retry(blank),
    lambda control, blank: control.propose(blank, CLOSES, by="ada"),
    lambda control, blank: control.propose("acme", CLOSES, by=blank),
    lambda control, blank: control.proposals(blank),
    lambda control, blank: control.approve(blank, "p", by="boss"),
    lambda control, blank: control.approve("acme", "p", by=blank),
    lambda control, blank: control.reject(blank, "p", by="boss"),
    lambda control, blank: control.list_organization(blank),
    lambda control, blank: control.forget_organization(blank, by="boss", everything=True),
    lambda control, blank: control.forget_organization("acme", by=blank, everything=True),
)


@pytest.mark.parametrize("blank", BLANK, ids=repr)
async def test_a_blank_or_missing_id_is_refused_everywhere(control: MemoryControl, blank: str | None) -> None:
    for use in USES:
        with pytest.raises(ConfigError, match="id that is not blank"):
            await use(control, blank)
