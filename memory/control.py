"""What people can do about their memory: see it, take it along, take it back, and switch it off."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from pydantic import JsonValue

from condensery.errors import ConfigError, abridged
from condensery.memory.erasing import Erasure, as_kept
from condensery.memory.forgotten import digests_of, is_among
from condensery.memory.sharing import Facts, SharedControl, known_only
from condensery.memory.types import Fact, Memory, NewFact, user_scope
from condensery.memory.users import Users
from condensery.retrieval.types import Frozen
from condensery.settings import Memory as MemorySettings
from condensery.storage.outbox import FACTS, OutboxRepository, OutboxRow, Payload
from condensery.storage.proposals import ProposalRepository

Rows = list[OutboxRow]


class FactDetails(Frozen):
    """A fact with what it took the place of (`superseded`, the newest first) and what has taken its own."""

    fact: Fact
    superseded: tuple[Fact, ...]
    superseded_by: Fact | None


class MemoryState(Frozen):
    """A user's memory at a glance. `enabled` is the user's own switch, `allowed` the setting memory.enabled."""

    user_id: str
    enabled: bool
    allowed: bool
    facts: int
    waiting: int
    parked: int

    @property
    def on(self) -> bool:
        """Whether anything is recalled or stored."""
        return self.enabled and self.allowed


class Forgotten(Frozen):
    """What was erased: facts, and turns whose facts were still to be stored."""

    facts: int
    waiting: int


class MemoryControl(SharedControl):
    """Everything about one user's memory, under that user's id. Works also while memory is off.

    Blank and missing ids are refused everywhere with `ConfigError`; a failing memory or database is `ProviderError`.
    """

    def __init__(
        self,
        memory: Memory,
        *,
        users: Users,
        outbox: OutboxRepository,
        proposals: ProposalRepository,
        settings: MemorySettings,
    ) -> None:
        super().__init__(memory, proposals, settings.may_approve)
        self._users = users
        self._outbox = outbox
        self._allowed = settings.enabled

    async def show(self, user_id: str | None, fact_id: str) -> FactDetails:
        """One fact with where it is from and what it superseded; raises `ConfigError` when there is none."""
        fact_id = as_kept(fact_id)
        facts = {fact.id: fact for fact in await self.list(user_id, history=True)}
        if fact_id not in facts:
            raise ConfigError(f"this user has no fact {abridged(fact_id)!r}; see `condensery memory list --history`")
        fact = facts[fact_id]
        older = tuple(each for each in facts.values() if each.superseded_by == fact_id)
        return FactDetails(fact=fact, superseded=older, superseded_by=facts.get(fact.superseded_by or ""))

    async def forget(
        self,
        user_id: str | None,
        *,
        fact_id: str | None = None,
        conversation_id: str | None = None,
        everything: bool = False,
    ) -> Forgotten:
        """Erase one fact, those of a conversation, or all: what is stored, its history, and what waits to be stored.

        Afterwards the erased facts are looked for in the list and by searching; `ProviderError` when one is there. What
        was said before is not stored later either, also not by a worker that has it at the moment. The turns themselves
        stay: they belong to the conversation.
        """
        scope = user_scope(user_id)
        erasure = Erasure.of(fact_id=fact_id, conversation_id=conversation_id, everything=everything)
        marked, dropped = None, 0
        if fact_id is None:
            marked = await self._users.mark_forgotten(scope.id, conversation_id)
            dropped = await self._outbox.drop(scope.id, conversation_id)
        for fact in await erasure.covered(self._memory, scope) if fact_id else []:
            await self._strike(scope.id, fact)
        return Forgotten(facts=await erasure.carry_out(self._memory, scope, before=marked), waiting=dropped)

    async def export(self, user_id: str | None) -> dict[str, Any]:
        """Everything kept about a user's memory as JSON: facts with their history, switch, what waits, proposals."""
        state = await self.state(user_id)
        rows = await self._outbox.of_user(state.user_id)
        facts = await self.list(user_id, history=True)
        proposals = await self._proposals.by(state.user_id)
        return {
            "user_id": state.user_id,
            "exported_at": datetime.now(UTC).isoformat(),
            "enabled": state.enabled,
            "facts": [fact.model_dump(mode="json", exclude={"score"}) for fact in facts],
            "waiting": [row.model_dump(mode="json") for row in rows if row.parked_at is None],
            "parked": [row.model_dump(mode="json") for row in rows if row.parked_at is not None],
            "proposals": [proposal.model_dump(mode="json") for proposal in proposals],
        }

    async def state(self, user_id: str | None) -> MemoryState:
        """Whether memory is on for a user, and how much there is."""
        user = user_scope(user_id).id
        rows = await self._outbox.of_user(user)
        parked = sum(row.parked_at is not None for row in rows)
        return MemoryState(
            user_id=user,
            enabled=await self.enabled(user),
            allowed=self._allowed,
            facts=len(await self.list(user)),
            waiting=len(rows) - parked,
            parked=parked,
        )

    async def waits(self, user_id: str | None) -> bool:
        """Whether anything that a user said is still to be looked at; what is parked is not."""
        rows = await self._outbox.of_user(user_scope(user_id).id)
        return any(row.parked_at is None for row in rows)

    async def enabled(self, user_id: str | None) -> bool:
        """The user's own switch; memory.enabled stands over it."""
        return await self._users.enabled(user_scope(user_id).id)

    async def on(self, user_id: str | None) -> None:
        """Recall and store facts of this user from the next turn on."""
        await self._users.switch(user_scope(user_id).id, True)

    async def off(self, user_id: str | None) -> None:
        """Neither recall nor store from now on; what waits is dropped when its turn comes. Nothing is erased."""
        scope = user_scope(user_id)
        await self._users.switch(scope.id, False)
        async with self._memory.locked(scope):  # what is being stored is stored before this returns, and nothing after
            pass

    async def parked(self, user_id: str | None, *, everybody: bool = False) -> Rows:
        """Turns whose facts could not be stored after all tries, with the reason: of one user, or of `everybody`."""
        return await self._outbox.parked(None if everybody else user_scope(user_id).id)

    async def retry(self, user_id: str | None, ids: Sequence[int] | None = None, *, everybody: bool = False) -> int:
        """Let parked turns be tried again, those of `ids` or all of the user or of `everybody`; return how many."""
        return await self._outbox.retry(ids, user_id=None if everybody else user_scope(user_id).id)

    async def list(self, user_id: str | None, *, history: bool = False) -> Facts:
        """A user's facts, the newest first; with `history` those superseded and expired, too."""
        return known_only(await self._memory.list(scope=user_scope(user_id), history=history))

    async def _strike(self, user_id: str, fact: Fact) -> None:
        """Note that it is forgotten, and take what says the same out of rows that would store it once more."""
        digests = digests_of(user_id, fact)
        await self._users.mark_facts_forgotten(user_id, digests)

        def without(payload: Payload) -> Payload:
            facts = payload[FACTS]
            listed = facts if isinstance(facts, list) else []
            return payload | {FACTS: [each for each in listed if not is_among(_fact(each), user_id, digests)]}

        await self._outbox.edit(user_id, without, having=FACTS)


def _fact(listed: JsonValue) -> NewFact:
    return NewFact.model_validate(listed)
