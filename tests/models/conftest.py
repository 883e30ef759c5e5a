"""A real local model for the tests of `models/`."""

from pathlib import Path

import pytest

from condensery.models.packages import resolve_package
from condensery.settings import BUNDLED_LLM


@pytest.fixture
def gguf() -> Path:
    """The bundled GGUF file; the test is skipped where the `local` extra is not installed."""
    pytest.importorskip("llama_cpp")
    return resolve_package(BUNDLED_LLM, "llm")
