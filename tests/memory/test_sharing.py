import pytest

from condensery.errors import ConfigError
from condensery.memory.control import MemoryControl
from condensery.memory.mem0_store import Mem0Memory
from condensery.memory.types import Memory, organization_scope, user_scope
from condensery.storage.database import Database
from condensery.tests.memory.controlled import CLOSES, controlling, keep, texts


@pytest.fixture
def memory(mem0_memory: Mem0Memory) -> Mem0Memory:
    return mem0_memory


@pytest.fixture
def control(memory: Mem0Memory, database: Database) -> MemoryControl:
    return controlling(memory, database)


async def test_a_proposed_fact_is_shared_once_it_is_approved(memory: Memory, control: MemoryControl) -> None:
    proposal = await control.propose("acme", CLOSES, by="ada")
    assert await control.list_organization("acme") == []
    (fact,) = await control.approve("acme", proposal.id, by="boss")
    assert (fact.text, fact.turn_id) == (CLOSES, f"proposal:{proposal.id}")
    assert await control.proposals("acme") == []
    found = await memory.recall("When does Bergen close?", scope=organization_scope("acme"), limit=5, threshold=0.3)
    assert texts(found) == [CLOSES]
    for scope in (organization_scope("other"), user_scope("acme"), user_scope("ada")):
        assert await memory.recall(CLOSES, scope=scope, limit=5, threshold=0.0) == []


async def test_who_is_not_among_the_approvers_decides_nothing(control: MemoryControl) -> None:
    proposal = await control.propose("acme", CLOSES, by="ada")
    for decide in (control.approve, control.reject):
        with pytest.raises(ConfigError, match=r"'ada' may not decide .* memory\.approvers names others"):
            await decide("acme", proposal.id, by="ada")
    assert await control.proposals("acme") == [proposal]
    with pytest.raises(ConfigError, match=r"memory\.approvers"):
        await control.forget_organization("acme", by="ada", everything=True)


async def test_a_rejected_fact_is_shared_by_nobody(control: MemoryControl) -> None:
    proposal = await control.propose("acme", CLOSES, by="ada")
    assert (await control.reject("acme", proposal.id, by="chief")).approved is False
    with pytest.raises(ConfigError, match="was rejected by chief already"):
        await control.approve("acme", proposal.id, by="boss")
    assert await control.list_organization("acme") == []


async def test_a_fact_the_organization_knows_is_not_new(control: MemoryControl) -> None:
    for expected in (1, 0):
        proposal = await control.propose("acme", CLOSES, by="ada")
        assert len(await control.approve("acme", proposal.id, by="boss")) == expected
    assert len(await control.list_organization("acme", history=True)) == 1


@pytest.mark.parametrize("text", ["", " \n", "x" * 401], ids=["empty", "blank", "long"])
async def test_what_is_no_fact_is_not_proposed(control: MemoryControl, text: str) -> None:
    with pytest.raises(ConfigError, match="a fact has 1 to 400 characters"):
        await control.propose("acme", text, by="ada")


async def test_approvers_erase_an_organizations_facts(memory: Memory, control: MemoryControl) -> None:
    await keep(memory, "ada", "I live in Oslo.")
    for text in (CLOSES, "The coffee machine is on the second floor."):
        proposal = await control.propose("acme", text, by="ada")
        await control.approve("acme", proposal.id, by="boss")
    newest = (await control.list_organization("acme"))[0]
    assert await control.forget_organization("acme", by="boss", fact_id=newest.id) == 1
    assert await control.forget_organization("acme", by="boss", everything=True) == 1
    assert await control.list_organization("acme", history=True) == []
    assert len(await control.list("ada")) == 1
