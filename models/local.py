"""A GGUF file behind `ChatModel`: exact token counts, a queue with a background, the window the file allows."""

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from llama_index.core.base.llms.types import ChatMessage

from condensery.errors import ConfigError
from condensery.models.adapters import Adapter
from condensery.models.gguf import trained_window
from condensery.models.llama import LlamaLLM
from condensery.models.verdicts import spellings
from condensery.settings import Llm

log = logging.getLogger(__name__)


class LocalAdapter(Adapter):
    """Talks to a `LlamaLLM`, which checks the window itself, with the model's own tokens."""

    llm: LlamaLLM
    parallel = 1

    def __init__(self, path: Path, settings: Llm) -> None:
        self.name = path.stem
        window = min(settings.context_window, trained_window(path) or settings.context_window)
        if window < settings.context_window:
            log.warning("%s was made for %d tokens; llm.context_window is lowered to that", path.name, window)
        if window <= settings.max_output_tokens:
            raise ConfigError(
                f"{path.name} has a window of {window} tokens, and llm.max_output_tokens is "
                f"{settings.max_output_tokens}, which leaves no room for the prompt; lower it, or choose a model with "
                "a larger window"
            )
        llm = LlamaLLM(
            path,
            context_window=window,
            max_new_tokens=settings.max_output_tokens,
            temperature=settings.temperature,
            threads=settings.threads,
            queue_size=settings.queue_size,
        )
        super().__init__(llm, window)

    async def count_tokens(self, messages: Sequence[ChatMessage]) -> int:
        """Tokens of the templated prompt; needs the vocabulary only, not the weights."""
        return len(await asyncio.to_thread(self.llm.tokens, messages))

    async def check_window(self, messages: Sequence[ChatMessage], max_tokens: int) -> None:
        """Nothing to do here: `LlamaLLM` raises `InputTooLarge` itself."""

    async def yes_probability(self, messages: Sequence[ChatMessage], yes: str, no: str) -> float:
        """The share of yes in the probabilities of the first token; by words when the model reasons first."""
        weights = await self.llm.aweigh(messages, [spellings(yes), spellings(no)])
        if weights is None or not sum(weights):
            return await super().yes_probability(messages, yes, no)
        return weights[0] / sum(weights)

    def keywords(self, options: dict[str, Any]) -> dict[str, Any]:
        """Every option, `background` included."""
        return options

    async def read_ahead(self, first: Sequence[ChatMessage], second: Sequence[ChatMessage]) -> None:
        """Let the model read what both begin with in the background, unless its weights are not loaded yet."""
        await self.llm.read_ahead(first, second)

    async def close(self) -> None:
        """Stop the running call, free the model and end its thread."""
        await asyncio.to_thread(self.llm.close)
