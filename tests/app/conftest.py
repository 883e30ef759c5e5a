"""The app over the real database, the real embedding model and the example corpus."""

import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from condensery.app import App, open_app
from condensery.models.chat import ChatModel
from condensery.settings import Settings
from condensery.testing import ScriptedLLM
from condensery.tests.app.helpers import OpenApp, Recording
from condensery.tests.cross_encoders import save_tiny_cross_encoder


@pytest.fixture
def corpus_app(corpus_settings: Settings) -> OpenApp:
    """Opens the app over the ingested examples; sections given as dicts change settings, `model` scripts a model."""

    @asynccontextmanager
    async def opened(model: ScriptedLLM | None = None, embedder: Any = None, **sections: Any) -> AsyncIterator[App]:
        changed = {name: getattr(corpus_settings, name).model_copy(update=values) for name, values in sections.items()}
        async with open_app(corpus_settings.model_copy(update=changed)) as app:
            services = app.services
            if model:
                services = dataclasses.replace(services, model=ChatModel(model, name="scripted", context_window=4096))
            if embedder:
                parts = dataclasses.replace(services.retrieval, embedder=embedder)
                services = dataclasses.replace(services, embedder=embedder, retrieval=parts)
            changed_app = App(services)
            try:
                yield changed_app
            finally:
                await changed_app.close()

    return opened


@pytest.fixture
def recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The `rerank` section for a cross-encoder whose questions a test can read in `Recording.asked`."""
    monkeypatch.setattr(Recording, "asked", [], raising=False)
    monkeypatch.setattr("condensery.models.cross_encoder.CrossEncoderModel", Recording)
    return {"model": str(save_tiny_cross_encoder(tmp_path / "tiny"))}
