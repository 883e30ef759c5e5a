import asyncio

import pytest

from condensery.errors import ConfigError, ProviderError
from condensery.storage.database import Database
from condensery.storage.proposals import Proposal, ProposalRepository


@pytest.fixture
def repository(database: Database) -> ProposalRepository:
    return ProposalRepository(database)


async def test_a_proposal_waits_until_it_is_decided(repository: ProposalRepository) -> None:
    proposal = await repository.propose("acme", "The office closes\n at six.", proposed_by="ada", turn_id="t")
    assert (proposal.organization_id, proposal.text) == ("acme", "The office closes at six.")
    assert (proposal.proposed_by, proposal.turn_id, proposal.approved) == ("ada", "t", None)
    assert await repository.waiting("acme") == [proposal]
    decided = await repository.decide(proposal.id, "acme", by="bob", approved=True)
    assert (decided.approved, decided.decided_by, decided.decided_at is not None) == (True, "bob", True)
    assert await repository.waiting("acme") == []
    assert await repository.by("ada") == [decided]


async def test_proposals_are_an_organizations_own(repository: ProposalRepository) -> None:
    ours = await repository.propose("acme", "The office closes at six.", proposed_by="ada")
    theirs = await repository.propose("other", "The office closes at six.", proposed_by="bob")
    assert await repository.waiting("acme") == [ours]
    assert await repository.waiting("other") == [theirs]
    with pytest.raises(ConfigError, match=f"no proposal '{theirs.id}'"):
        await repository.decide(theirs.id, "acme", by="bob", approved=True)
    assert await repository.waiting("other") == [theirs]


async def test_the_same_words_wait_once_and_may_come_again_after_a_decision(repository: ProposalRepository) -> None:
    same = [repository.propose("acme", "The office closes at six.", proposed_by=f"u{n}") for n in range(8)]
    proposals = await asyncio.gather(*same)
    assert len({proposal.id for proposal in proposals}) == 1
    await repository.decide(proposals[0].id, "acme", by="bob", approved=False)
    again = await repository.propose("acme", "The office closes at six.", proposed_by="ada")
    assert again.id != proposals[0].id
    assert await repository.waiting("acme") == [again]


async def test_of_many_who_decide_at_once_one_does_and_the_others_are_told(repository: ProposalRepository) -> None:
    proposal = await repository.propose("acme", "The office closes at six.", proposed_by="ada")
    stored: list[str] = []

    async def store(proposal: Proposal) -> None:
        await asyncio.sleep(0)
        stored.append(f"by {proposal.decided_by}")

    deciding = [repository.decide(proposal.id, "acme", by=f"u{n}", approved=n % 2 == 0, then=store) for n in range(6)]
    outcomes = await asyncio.gather(*deciding, return_exceptions=True)
    (winner,) = [each for each in outcomes if isinstance(each, Proposal)]
    told = {str(each) for each in outcomes if isinstance(each, ConfigError)}
    decision = "approved" if winner.approved else "rejected"
    assert told == {f"the proposal {proposal.id} was {decision} by {winner.decided_by} already"}
    assert stored == [f"by {winner.decided_by}"]


async def test_a_decision_that_cannot_be_carried_out_is_none(repository: ProposalRepository) -> None:
    proposal = await repository.propose("acme", "The office closes at six.", proposed_by="ada")

    async def fail(proposal: Proposal) -> None:
        raise ProviderError("the memory is out of reach")

    with pytest.raises(ProviderError, match="out of reach"):
        await repository.decide(proposal.id, "acme", by="bob", approved=True, then=fail)
    assert await repository.waiting("acme") == [proposal]


async def test_a_proposal_that_is_not_there_is_named(repository: ProposalRepository) -> None:
    with pytest.raises(ConfigError, match="no proposal 'no-such'; see `condensery memory proposals`"):
        await repository.decide("no-such", "acme", by="bob", approved=True)
