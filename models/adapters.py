"""How `ChatModel` talks to one kind of LlamaIndex `LLM`; the base class suits any of them."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from typing import TYPE_CHECKING, Any

from condensery.errors import ProviderError
from condensery.models.hygiene import clean
from condensery.models.token_estimate import estimate_tokens
from condensery.models.types import input_too_large
from condensery.models.verdicts import VERDICT_TOKENS, said

if TYPE_CHECKING:
    from llama_index.core.base.llms.types import ChatMessage, ChatResponse
    from llama_index.core.llms.llm import LLM

log = logging.getLogger(__name__)
_MESSAGE_OVERHEAD = 4


class Adapter:
    """Any LlamaIndex `LLM`: tokens are estimated on the high side, and the window is checked against the estimate."""

    parallel = 8
    """How many calls may run at once; more only wait."""

    def __init__(self, llm: "LLM", context_window: int) -> None:
        self.llm = llm
        self.context_window = context_window

    async def count_tokens(self, messages: "Sequence[ChatMessage]") -> int:
        """Tokens of the prompt made of `messages`, estimated: likelier too many than too few."""
        texts = [message.content or "" for message in messages]
        return await asyncio.to_thread(lambda: sum(_MESSAGE_OVERHEAD + estimate_tokens(text) for text in texts))

    async def chat(self, messages: "Sequence[ChatMessage]", options: dict[str, Any]) -> "ChatResponse":
        """Return the reply. `options`: max_tokens, stop, response_format and background, where they are set."""
        await self.check_window(messages, options["max_tokens"])
        return await self.llm.achat(messages, **self.keywords(options))

    async def stream(
        self, messages: "Sequence[ChatMessage]", options: dict[str, Any]
    ) -> "AsyncGenerator[ChatResponse, None]":
        """Return the pieces of the reply, to be iterated; closing them ends the call."""
        await self.check_window(messages, options["max_tokens"])
        return await self.llm.astream_chat(messages, **self.keywords(options))

    async def yes_probability(self, messages: "Sequence[ChatMessage]", yes: str, no: str) -> float:
        """How likely the reply to `messages` is `yes` rather than `no`, which this class takes from its words."""
        response = await self.chat(messages, {"max_tokens": VERDICT_TOKENS})
        return self.verdict(clean(response.message.content or "").text, yes, no)

    def verdict(self, text: str, yes: str, no: str) -> float:
        """1.0 or 0.0, as `text` says. Raises `ProviderError` when it says neither."""
        if (found := said(text, yes, no)) is None:
            raise ProviderError(f"the model was asked for {yes} or {no} and replied something else")
        return found

    async def check_window(self, messages: "Sequence[ChatMessage]", max_tokens: int) -> None:
        """Raise `InputTooLarge` when prompt and reply do not fit the window."""
        count = await self.count_tokens(messages)
        if count + max_tokens > self.context_window:
            raise input_too_large(prompt_tokens=count, max_tokens=max_tokens, window=self.context_window)

    def keywords(self, options: dict[str, Any]) -> dict[str, Any]:
        """The options this LLM knows; only a local model has a queue with a background."""
        return {name: value for name, value in options.items() if name != "background"}

    async def read_ahead(self, first: "Sequence[ChatMessage]", second: "Sequence[ChatMessage]") -> None:
        """Read what two prompts begin with, where that is of use: for a local model."""

    def failure(self, error: Exception) -> ProviderError:
        """Say in our words what went wrong; the library's text may hold prompts or jargon, and goes to the log."""
        log.warning("the model failed", exc_info=error)
        return ProviderError(f"the model failed ({type(error).__name__}); the log has the details")

    async def close(self) -> None:
        """Free what the LLM holds."""
