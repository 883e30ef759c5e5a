"""The memory for tests keeps to what every memory keeps to."""

import pytest

from condensery.testing import InMemoryMemory
from condensery.tests.memory.memory_contract import *  # noqa: F403


@pytest.fixture
def memory() -> InMemoryMemory:
    """One that goes by shared words."""
    return InMemoryMemory()
