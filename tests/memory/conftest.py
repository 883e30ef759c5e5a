"""A memory on mem0 over a database of the test's own."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from condensery.memory.mem0_store import Mem0Memory, open_memory
from condensery.models.embedding import Embedder
from condensery.storage.database import Database


@pytest.fixture
async def mem0_memory(database: Database, shared_embedder: Embedder, tmp_path: Path) -> AsyncIterator[Mem0Memory]:
    """mem0 with the bundled embedding model."""
    async with open_memory(database, shared_embedder, tmp_path) as memory:
        yield memory
