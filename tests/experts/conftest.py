"""An app whose agent may ask experts, over the real database."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest

from condensery.app import App
from condensery.models.embedding import HuggingFaceEmbedder
from condensery.services import open_services
from condensery.settings import Settings
from condensery.tests.experts.asking import AGENTS, ExpertApp

OpenExperts = Callable[..., AbstractAsyncContextManager[App]]


@pytest.fixture
def expert_app(
    settings: Settings, shared_embedder: HuggingFaceEmbedder, monkeypatch: pytest.MonkeyPatch
) -> OpenExperts:
    """Opens the app over an empty index, with the agent that asks experts; sections given as dicts change settings."""
    monkeypatch.setattr("condensery.services.open_embedder", lambda settings: shared_embedder)

    @asynccontextmanager
    async def opened(**sections: Any) -> AsyncIterator[App]:
        base = {"data_dir": settings.data_dir, "database_url": settings.database_url, "llm": {"model": "none"}}
        async with open_services(Settings.model_validate(base | AGENTS | sections)) as services:
            app = ExpertApp(services)
            try:
                yield app
            finally:
                await app.close()

    return opened
