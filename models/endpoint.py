"""A model behind an OpenAI-compatible HTTP API (llama.cpp's server, vLLM, Ollama, a hosted one)."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from openai import (
    APIConnectionError,
    APIStatusError,
    APITimeoutError,
    AsyncOpenAI,
    BadRequestError,
    OpenAI,
    UnprocessableEntityError,
)

from condensery.errors import Busy, ProviderError
from condensery.models.adapters import Adapter
from condensery.models.hygiene import clean
from condensery.models.specs import Endpoint
from condensery.models.types import InputTooLarge
from condensery.models.verdicts import VERDICT_TOKENS, share
from condensery.settings import Llm

if TYPE_CHECKING:
    from llama_index.core.base.llms.types import ChatMessage, ChatResponse

T = TypeVar("T")
_RETRIES = 2
TOP_LOGPROBS = 20
"""As many as OpenAI's own API reports."""
_TOO_LONG = ("context length", "context_length", "context size", "context window", "too long", "maximum context")
_ADVICE = {
    401: "it refused the key; check llm.api_key",
    403: "it refused the key; check llm.api_key",
    404: "it does not know this path or model; check llm.model",
}


class EndpointAdapter(Adapter):
    """Talks to an endpoint by llama-index-llms-openai-like.

    The OpenAI client retries refused connections, 408, 409, 429 and 5xx with growing pauses; all tries together may
    take `request_seconds`. The key lives in the HTTP clients only, not in the LlamaIndex object, which can be printed.
    """

    def __init__(self, endpoint: Endpoint, settings: Llm) -> None:
        from llama_index.llms.openai_like import OpenAILike

        self._endpoint = endpoint
        self._seconds = settings.request_seconds
        self._reports_probabilities = True  # until it refuses to
        client_options: dict[str, Any] = {
            "api_key": settings.api_key.get_secret_value() if settings.api_key else "none",
            "base_url": endpoint.url,
            "max_retries": _RETRIES,
            "timeout": settings.request_seconds,
        }
        self._client = AsyncOpenAI(**client_options)
        llm = OpenAILike(
            model=endpoint.model,
            api_base=endpoint.url,
            api_key="none",
            is_chat_model=True,
            context_window=settings.context_window,
            temperature=settings.temperature,
            max_retries=0,
            openai_client=OpenAI(**client_options),
            async_openai_client=self._client,
        )
        super().__init__(llm, settings.context_window)

    async def chat(self, messages: "Sequence[ChatMessage]", options: dict[str, Any]) -> "ChatResponse":
        """Return the reply within `request_seconds`."""
        return await self._in_time(super().chat(messages, options))

    async def yes_probability(self, messages: "Sequence[ChatMessage]", yes: str, no: str) -> float:
        """The share of yes in the probabilities the endpoint reports; by the reply's words where there are none."""
        response = await self._with_probabilities(messages)
        first = response.logprobs[0] if response.logprobs else []
        found = share(((token.token, token.logprob) for token in first), yes, no)
        return self.verdict(clean(response.message.content or "").text, yes, no) if found is None else found

    async def _with_probabilities(self, messages: "Sequence[ChatMessage]") -> "ChatResponse":
        options = {"max_tokens": VERDICT_TOKENS}
        if self._reports_probabilities:
            try:
                return await self.chat(messages, {**options, "logprobs": True, "top_logprobs": TOP_LOGPROBS})
            except (BadRequestError, UnprocessableEntityError) as error:
                if _is_too_long(error):
                    raise
                self._reports_probabilities = False
        return await self.chat(messages, options)

    async def stream(
        self, messages: "Sequence[ChatMessage]", options: dict[str, Any]
    ) -> "AsyncGenerator[ChatResponse, None]":
        """Return the pieces of the reply; the first, and each after it, must come within `request_seconds`."""
        return self._watched(await super().stream(messages, options))

    async def _watched(self, responses: "AsyncGenerator[ChatResponse, None]") -> "AsyncGenerator[ChatResponse, None]":
        try:
            while (response := await self._in_time(anext(responses, None))) is not None:
                yield response
        finally:
            await responses.aclose()

    async def _in_time(self, work: Awaitable[T]) -> T:
        async with asyncio.timeout(self._seconds):
            return await work

    def failure(self, error: Exception) -> ProviderError:
        """Say what the endpoint did and who can help."""
        host = self._endpoint.host
        if isinstance(error, APITimeoutError | TimeoutError):
            return ProviderError(f"{host} did not reply within {self._seconds:g} s; see llm.request_seconds")
        if isinstance(error, APIConnectionError):
            return ProviderError(f"{host} cannot be reached; is it running, and is llm.model right?")
        if isinstance(error, BadRequestError) and _is_too_long(error):
            return InputTooLarge(f"{host} refused the prompt as too long; lower llm.context_window to its real window")
        if isinstance(error, APIStatusError):
            return self._status_failure(error.status_code)
        return super().failure(error)

    def _status_failure(self, status: int) -> ProviderError:
        if status == 429:
            return Busy(f"{self._endpoint.host} has too many requests (HTTP 429); try again in a moment")
        advice = _ADVICE.get(status, "try again, or see its log")
        return ProviderError(f"{self._endpoint.host} failed with HTTP {status}: {advice}")

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


def _is_too_long(error: Exception) -> bool:
    return any(text in str(error).lower() for text in _TOO_LONG)
