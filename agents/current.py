"""The agents under the settings of now: made anew whenever they change, so that a turn keeps those it began with."""

import logging
from collections.abc import Mapping
from typing import Any

from condensery.agents.few_shot import FewShotAgent
from condensery.agents.profiles import Profiles, Talking
from condensery.agents.rag import RAGAgent
from condensery.errors import ConfigError
from condensery.services import Services
from condensery.settings import Settings
from condensery.settings_live import LiveSettings

log = logging.getLogger(__name__)


class CurrentAgents:
    """Holds the agents; what one has been handed stays as it is. Raises `ConfigError` for one that cannot be used."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self._live = services.live
        self._seen = services.live.settings if services.live else services.settings
        self._profiles = Profiles(services)
        self._made: dict[str | None, Talking] = {}

    def named(self, name: str | None = None) -> Talking:
        """The agent called `name`, the default one for None.

        Raises `UnknownName`, and `ConfigError` for an agent that does not talk.
        """
        if name not in self._made:
            agent = RAGAgent(self.services) if name is None else self._profiles.talking(self.services, name)
            self._made[name] = agent
        return self._made[name]

    def services_of(self, name: str) -> Services:
        """The collaborators of the agent called `name`. Raises `UnknownName`."""
        return self._profiles.services(self.services, name)

    def labelling(self, name: str) -> FewShotAgent:
        """The agent called `name`, which labels. Raises `UnknownName`, and `ConfigError` for one that does not."""
        return self._profiles.labelling(self.services, name)

    async def refresh(self) -> None:
        """Take the settings as they are now, whichever process changed them."""
        if self._live is not None:
            self._use(await self._live.current())

    async def set(self, changes: Mapping[str, Any]) -> None:
        """Store `changes`; raises `ConfigError`, and stores nothing, when they cannot be used here."""
        self._use(await self._stored().set(changes, check=self._check))

    async def reset(self, *names: str) -> None:
        """Forget stored values; raises `ConfigError`, and forgets nothing, when what is left cannot be used here."""
        self._use(await self._stored().reset(*names, check=self._check))

    def _stored(self) -> LiveSettings:
        if self._live is None:
            raise ConfigError("these services were made without a database of settings; open them with open_services")
        return self._live

    def _check(self, settings: Settings) -> None:
        """Raise `ConfigError` when a model that the settings need is not here, or a named agent cannot have them."""
        services = self.services.with_settings(settings)
        services.check(services.plan())
        for name in settings.agents:
            self._profiles.services(services, name)

    def _use(self, settings: Settings) -> None:
        if settings is self._seen:
            return
        self._seen = settings
        try:
            self._check(settings)
        except ConfigError as error:
            log.warning("the settings stay as they were, since the stored ones cannot be met here: %s", error)
        else:
            self.services = self.services.with_settings(settings)
            self._made.clear()
