"""Facts that a user of the command line has."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from condensery.memory.mem0_store import open_memory
from condensery.memory.types import Fact, NewFact, user_scope
from condensery.models.embedding import HuggingFaceEmbedder
from condensery.settings import Settings
from condensery.storage.database import open_database

Keep = Callable[..., list[Fact]]


def keeping(settings: Settings, embedder: HuggingFaceEmbedder) -> Keep:
    """What stores facts of a user, each as if it had been said a day after the one before."""

    async def store(user: str, texts: tuple[str, ...], fields: dict[str, Any]) -> list[Fact]:
        stored: list[Fact] = []
        async with (
            open_database(settings) as database,
            open_memory(database, embedder, settings.data_dir) as memory,
        ):
            for number, text in enumerate(texts):
                when = datetime(2026, 1, number + 1, 12, tzinfo=UTC)
                said = {"text": text, "said_at": when, "turn_id": text, "conversation_id": "c"}
                stored += await memory.remember([NewFact.model_validate(said | fields)], scope=user_scope(user))
        return stored

    return lambda *texts, user="local", **fields: asyncio.run(store(user, texts, fields))
