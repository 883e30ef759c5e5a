"""Facts that somebody proposed for an organization, and what was decided about them."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from uuid import uuid4

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from condensery.errors import ConfigError, abridged
from condensery.retrieval.types import Frozen
from condensery.storage.database import Database
from condensery.storage.schema import organization_proposals as table
from condensery.storage.text import clean_text


class Proposal(Frozen):
    """A fact an organization may come to share. `approved` is None while nobody has decided."""

    id: str
    organization_id: str
    text: str
    proposed_by: str
    turn_id: str | None
    proposed_at: datetime
    approved: bool | None
    decided_by: str | None
    decided_at: datetime | None


class ProposalRepository:
    """Proposals in Postgres. Every method raises what `Database.transaction` raises."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def propose(
        self, organization_id: str, text: str, *, proposed_by: str, turn_id: str | None = None
    ) -> Proposal:
        """Let `text` wait for a decision; what waits already in the same words is returned as it is."""
        values = {"organization_id": organization_id, "text": " ".join(text.split()), "proposed_by": proposed_by}
        values = {name: clean_text(value) for name, value in values.items()}
        same = [table.c.organization_id == values["organization_id"], table.c.text == values["text"]]
        async with self._db.transaction() as connection:
            await _take_turns(connection, values["organization_id"])
            if waiting := await _found(connection, *same, table.c.approved.is_(None)):
                return waiting[0]
            new = {"id": uuid4().hex[:12], "turn_id": clean_text(turn_id) if turn_id else None}
            await connection.execute(insert(table).values(values | new))
            return (await _found(connection, table.c.id == new["id"]))[0]

    async def waiting(self, organization_id: str) -> list[Proposal]:
        """What nobody has decided yet, the oldest first."""
        return await self._all(table.c.organization_id == clean_text(organization_id), table.c.approved.is_(None))

    async def by(self, user_id: str) -> list[Proposal]:
        """Everything a user has proposed, whatever became of it, the oldest first."""
        return await self._all(table.c.proposed_by == clean_text(user_id))

    async def decide(
        self,
        proposal_id: str,
        organization_id: str,
        *,
        by: str,
        approved: bool,
        then: Callable[[Proposal], Awaitable[None]] | None = None,
    ) -> Proposal:
        """Decide once and for all: of two who do so at the same time one does, and the other is told.

        `then` runs before the decision counts; when it raises, the proposal waits as before. Raises `ConfigError` for a
        proposal that is not there, or not this organization's, and for one that was decided.
        """
        this = [table.c.id == clean_text(proposal_id), table.c.organization_id == clean_text(organization_id)]
        decision = {"approved": approved, "decided_by": clean_text(by), "decided_at": func.now()}
        async with self._db.transaction() as connection:
            statement = update(table).where(*this, table.c.approved.is_(None)).values(decision).returning(table)
            row = (await connection.execute(statement)).one_or_none()
            if row is None:
                raise _undecidable(proposal_id, await _found(connection, *this))
            decided = Proposal.model_validate(dict(row._mapping))
            if then:
                await then(decided)
            return decided

    async def _all(self, *conditions: ColumnElement[bool]) -> list[Proposal]:
        async with self._db.transaction() as connection:
            return await _found(connection, *conditions)


async def _take_turns(connection: AsyncConnection, organization_id: str) -> None:
    """Until the transaction ends, nobody else proposes to this organization."""
    key = func.hashtextextended(f"proposals of {organization_id}", 0)
    await connection.execute(select(func.pg_advisory_xact_lock(key)))


async def _found(connection: AsyncConnection, *conditions: ColumnElement[bool]) -> list[Proposal]:
    query = select(table).where(*conditions).order_by(table.c.proposed_at, table.c.id)
    return [Proposal.model_validate(dict(row._mapping)) for row in await connection.execute(query)]


def _undecidable(proposal_id: str, found: list[Proposal]) -> ConfigError:
    if not found:
        return ConfigError(
            f"the organization has no proposal {abridged(proposal_id)!r}; see `condensery memory proposals`"
        )
    decision = "approved" if found[0].approved else "rejected"
    return ConfigError(f"the proposal {found[0].id} was {decision} by {found[0].decided_by} already")
