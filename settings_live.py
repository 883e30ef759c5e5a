"""The settings of a running process: as it was started, with what its database says now."""

import logging
from collections.abc import Callable, Mapping
from typing import Any

from condensery.errors import CondenseryError, ConfigError
from condensery.settings import Settings
from condensery.settings_load import refused
from condensery.settings_runtime import Changes, applied, checked, checked_reset
from condensery.storage.settings import SettingsRepository, Stored

log = logging.getLogger(__name__)
Check = Callable[[Settings], None]


def _accept(settings: Settings) -> None:
    """No further demands."""


class LiveSettings:
    """Answers what the settings are now. `settings` is a new object whenever they changed, and never changes itself."""

    def __init__(self, base: Settings, repository: SettingsRepository) -> None:
        self._base = base
        self._repository = repository
        self._generation = 0  # that of a database in which nothing was ever stored
        self.settings = base

    async def current(self) -> Settings:
        """The settings, with what any process has stored by now: one read of one number unless something changed.

        When the database fails they stay as they were, with a WARNING.
        """
        try:
            known = self._generation
            if await self._repository.generation() != known:
                stored = await self._repository.load()
                if self._generation == known:  # else a change of ours was quicker, and is newer
                    self._take(stored)
        except CondenseryError as error:
            log.warning("the settings stay as they were, since the stored ones cannot be read: %s", error)
        return self.settings

    async def set(self, changes: Mapping[str, Any], *, check: Check = _accept) -> Settings:
        """Store `changes`, all or none, and return the settings of the next turn.

        Raises `ConfigError` for what cannot be changed, a value that is not allowed, a rule that would be broken, and
        when `check` raises it for the settings that would come of it.
        """
        return await self._change(lambda stored: checked(self._base, stored, changes), check)

    async def reset(self, *names: str, check: Check = _accept) -> Settings:
        """Forget the stored values of `names`, all or none, and return the settings of the next turn; see `set`."""
        return await self._change(lambda stored: checked_reset(self._base, stored, names), check)

    async def _change(self, make: Callable[[Mapping[str, Any]], Changes], check: Check) -> Settings:
        def decide(stored: Mapping[str, Any]) -> Changes:
            changes = make(stored)
            try:
                check(applied(self._base, changes.over(stored))[0])
            except ConfigError as error:
                raise refused("nothing was changed", [str(error)]) from error
            return changes

        self._take(await self._repository.change(decide))
        return self.settings

    def _take(self, stored: Stored) -> None:
        self._generation = stored.generation
        self.settings, ignored = applied(self._base, stored.values)
        for reason in ignored:
            log.warning("a stored setting is ignored: %s", reason)
