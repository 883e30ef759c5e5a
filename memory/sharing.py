"""What an organization remembers: proposed by anybody, shared once somebody with the right has approved it."""

import asyncio
from datetime import UTC, datetime

from condensery.errors import ConfigError, abridged
from condensery.memory.erasing import Erasure
from condensery.memory.types import LONGEST_FACT, Fact, Memory, NewFact, organization_scope, user_scope
from condensery.retrieval.text import is_blank
from condensery.storage.proposals import Proposal, ProposalRepository

Facts = list[Fact]
Proposals = list[Proposal]

DECISIONS = 2
"""Approvals that one process makes at once; each holds a connection while it waits for those that store the fact."""


class SharedControl:
    """Proposals and facts of organizations. Blank and missing ids are refused everywhere with `ConfigError`."""

    def __init__(self, memory: Memory, proposals: ProposalRepository, may_approve: frozenset[str]) -> None:
        self._memory = memory
        self._proposals = proposals
        self._may_approve = may_approve
        self._deciding = asyncio.Semaphore(DECISIONS)

    async def propose(
        self, organization_id: str | None, text: str, *, by: str | None, turn_id: str | None = None
    ) -> Proposal:
        """Let a fact wait for an approval; one that waits in the same words is returned as it is."""
        if is_blank(text) or len(text) > LONGEST_FACT:
            raise ConfigError(
                f"a fact has 1 to {LONGEST_FACT} characters, got {len(text.strip())}; say it in a sentence"
            )
        organization = organization_scope(organization_id).id
        return await self._proposals.propose(organization, text, proposed_by=user_scope(by).id, turn_id=turn_id)

    async def proposals(self, organization_id: str | None) -> Proposals:
        """What waits for a decision, the oldest first."""
        return await self._proposals.waiting(organization_scope(organization_id).id)

    async def approve(self, organization_id: str | None, proposal_id: str, *, by: str | None) -> Facts:
        """Share a proposed fact; return what is new, which is nothing when the organization knew it.

        Raises `ConfigError` for a user whom memory.approvers does not name, and for a proposal that is not there or was
        decided; `ProviderError` when the fact could not be stored: the proposal waits as before.
        """
        scope = organization_scope(organization_id)
        stored: Facts = []

        async def share(proposal: Proposal) -> None:
            stored.extend(await self._memory.remember([_fact(proposal)], scope=scope))

        name = self._approver(by)
        async with self._deciding:
            await self._proposals.decide(proposal_id, scope.id, by=name, approved=True, then=share)
        return stored

    async def reject(self, organization_id: str | None, proposal_id: str, *, by: str | None) -> Proposal:
        """Decide against a proposal; raises as `approve` does."""
        organization = organization_scope(organization_id).id
        return await self._proposals.decide(proposal_id, organization, by=self._approver(by), approved=False)

    async def list_organization(self, organization_id: str | None, *, history: bool = False) -> Facts:
        """The facts of an organization, the newest first; with `history` those superseded and expired, too."""
        return known_only(await self._memory.list(scope=organization_scope(organization_id), history=history))

    async def forget_organization(
        self, organization_id: str | None, *, by: str | None, fact_id: str | None = None, everything: bool = False
    ) -> int:
        """Erase one fact of an organization, or all; return how many. For approvers; see `MemoryControl.forget`."""
        scope = organization_scope(organization_id)
        self._approver(by)
        return await Erasure.of(fact_id=fact_id, everything=everything).carry_out(self._memory, scope)

    def _approver(self, user_id: str | None) -> str:
        name = user_scope(user_id).id
        if name in self._may_approve:
            return name
        who = "names others" if self._may_approve else "names nobody"
        raise ConfigError(
            f"{abridged(name)!r} may not decide about an organization's facts: memory.approvers {who}; "
            "add the user there, or decide as one who may"
        )


def known_only(facts: Facts) -> Facts:
    """The facts without references to erased ones: what one superseded still knows when it was."""
    ids = {fact.id for fact in facts}
    return [
        fact
        if fact.superseded_by is None or fact.superseded_by in ids
        else fact.model_copy(update={"superseded_by": None})
        for fact in facts
    ]


def _fact(proposal: Proposal) -> NewFact:
    """A fact that knows where it is from: a turn, or else the proposal, so that storing it twice is storing it once."""
    origin = proposal.turn_id or f"proposal:{proposal.id}"
    return NewFact(text=proposal.text, turn_id=origin, said_at=proposal.decided_at or datetime.now(UTC))
