"""Recalling for a turn: within a deadline, and never in the way of an answer."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from condensery.memory.types import Fact, MemoryScope, OpenMemory, organization_scope, user_scope
from condensery.settings import Memory as MemorySettings
from condensery.tracing import surviving

log = logging.getLogger(__name__)

OPENING_SECONDS = 20.0
"""The first recall of a process that has anything to recall may wait this long for what it has to load."""

IsOn = Callable[[str], Awaitable[bool]]


class Recaller:
    """Recalls by scope; what fails or takes too long is nothing recalled, with the reason in the stage's note."""

    def __init__(self, memory: OpenMemory, is_on: IsOn, settings: MemorySettings) -> None:
        self._memory = memory
        self._is_on = is_on
        self._settings = settings

    async def of_user(self, user_id: str | None, question: str) -> tuple[Fact, ...]:
        """The user's facts that bear on `question`; none for nobody, or for who switched memory off."""
        limit = self._settings.limit
        if user_id is None or not limit or not self._settings.enabled:
            return ()
        return await self._safely(self._of_user(user_id, question, limit))

    async def of_organization(self, organization_id: str | None, question: str) -> tuple[Fact, ...]:
        """The organization's facts that bear on `question`; none for no organization."""
        limit = self._settings.organization_limit
        if organization_id is None or not limit or not self._settings.enabled:
            return ()
        return await self._safely(self._recall(organization_scope(organization_id), question, limit))

    async def _of_user(self, user_id: str, question: str, limit: int) -> tuple[Fact, ...]:
        """Look the switch up and search at the same time; what was found for who switched memory off goes nowhere."""
        on, facts = await asyncio.gather(
            self._is_on(user_id), self._recall(user_scope(user_id), question, limit), return_exceptions=True
        )
        if isinstance(on, BaseException):
            raise on
        if on and isinstance(facts, BaseException):
            raise facts
        return facts if on and not isinstance(facts, BaseException) else ()

    async def _recall(self, scope: MemoryScope, question: str, limit: int) -> tuple[Fact, ...]:
        threshold = self._settings.threshold
        return tuple(await self._memory.recall(question, scope=scope, limit=limit, threshold=threshold))

    async def _safely(self, recall: Awaitable[tuple[Fact, ...]]) -> tuple[Fact, ...]:
        seconds = self._settings.seconds if self._memory.ready else max(self._settings.seconds, OPENING_SECONDS)
        async with surviving("nothing recalled", what="the memory", seconds=seconds, setting="memory.seconds"):
            return await recall
        return ()
