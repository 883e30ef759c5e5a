"""Condensery: a conversational agent framework in which one condensed question is all that search ever sees.

    async with condensery.open_app() as app:
        turn = await app.ask("When does the first car go up?")
        print(turn.answer)

Names are loaded when first used, so that importing the package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from condensery.agents.rag import RAGAgent
    from condensery.app import App, open_app
    from condensery.errors import CondenseryError, ConfigError, ProviderError, Refusal, RefusalReason
    from condensery.services import Services, open_services
    from condensery.settings import Settings, load_settings
    from condensery.workflows.events import AgentCall, ChatStart, TurnEvent
    from condensery.workflows.turn import Turn

_HOMES = {
    "AgentCall": "workflows.events",
    "App": "app",
    "ChatStart": "workflows.events",
    "CondenseryError": "errors",
    "ConfigError": "errors",
    "ProviderError": "errors",
    "RAGAgent": "agents.rag",
    "Refusal": "errors",
    "RefusalReason": "errors",
    "Services": "services",
    "Settings": "settings",
    "Turn": "workflows.turn",
    "TurnEvent": "workflows.events",
    "load_settings": "settings",
    "open_app": "app",
    "open_services": "services",
}

__all__ = [
    "AgentCall",
    "App",
    "ChatStart",
    "CondenseryError",
    "ConfigError",
    "ProviderError",
    "RAGAgent",
    "Refusal",
    "RefusalReason",
    "Services",
    "Settings",
    "Turn",
    "TurnEvent",
    "load_settings",
    "open_app",
    "open_services",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'condensery' has no attribute {name!r}")
    return getattr(import_module(f"condensery.{_HOMES[name]}"), name)
