"""The agent under the settings of now: made anew whenever they change, so that a turn keeps those it began with."""

import logging
from collections.abc import Mapping
from typing import Any

from condensery.agents.rag import RAGAgent
from condensery.errors import ConfigError
from condensery.services import Services
from condensery.settings import Settings
from condensery.settings_live import LiveSettings

log = logging.getLogger(__name__)


class CurrentAgent:
    """Holds `agent`; what one has been handed stays as it is."""

    def __init__(self, services: Services) -> None:
        self.agent = RAGAgent(services)
        self._live = services.live
        self._seen = services.live.settings if services.live else services.settings

    async def refresh(self) -> RAGAgent:
        """The agent under the settings as they are now, whichever process changed them."""
        if self._live is not None:
            self._use(await self._live.current())
        return self.agent

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
        """Raise `ConfigError` when a model that the settings need is not here."""
        services = self.agent.services.with_settings(settings)
        services.check(services.plan())

    def _use(self, settings: Settings) -> None:
        if settings is self._seen:
            return
        self._seen = settings
        try:
            self._check(settings)
        except ConfigError as error:
            log.warning("the settings stay as they were, since the stored ones cannot be met here: %s", error)
        else:
            self.agent = RAGAgent(self.agent.services.with_settings(settings))
