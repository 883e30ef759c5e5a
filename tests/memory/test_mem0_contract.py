"""Memory on mem0 keeps to what every memory keeps to, with the bundled embedding model."""

import pytest

from condensery.memory.mem0_store import Mem0Memory
from condensery.tests.memory.memory_contract import *  # noqa: F403


@pytest.fixture
def memory(mem0_memory: Mem0Memory) -> Mem0Memory:
    """The real one."""
    return mem0_memory
