"""A local GGUF as a LlamaIndex `LLM`: the file's own chat template, per-call options, one owner thread.

`LlamaCPP` loads in its constructor, ignores per-call options, formats prompts in a fixed style and blocks the event
loop in its asynchronous methods; this class keeps its place in LlamaIndex and replaces all of that.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseAsyncGen,
    CompletionResponseGen,
    LLMMetadata,
    MessageRole,
)
from llama_index.core.llms.callbacks import llm_chat_callback, llm_completion_callback
from llama_index.llms.llama_cpp import LlamaCPP
from pydantic import Field, PrivateAttr

from condensery.models import chat_prompt
from condensery.models.llama_call import Options, astream, chat_response, completion_response, joined, stream
from condensery.models.llama_prefixes import shared
from condensery.models.llama_runtime import LlamaRuntime, Piece, Request
from condensery.models.llama_vocabulary import Vocabulary, load_llama
from condensery.models.types import input_too_large

_THINKING_OPENED = Piece("<think>\n")


class LlamaLLM(LlamaCPP):
    """A GGUF file as a LlamaIndex chat model; the weights load with the first call, in the owner thread.

    Calls raise `InputTooLarge` (nothing is cut), `Busy` (the queue is full), `ProviderError` (the model failed) and
    `ConfigError` (the file cannot be loaded). `raw["finish_reason"]` of a response is "stop" or "length". A model whose
    template can switch its reasoning off has it off unless `thinking` is true: on a CPU it takes longer than the reply.
    """

    temperature: float = Field(default=0.0, ge=0.0, le=2.0)
    _vocabulary: Vocabulary = PrivateAttr()
    _runtime: LlamaRuntime = PrivateAttr()

    def __init__(
        self,
        model_path: str | Path,
        *,
        context_window: int = 4096,
        max_new_tokens: int = 512,
        temperature: float = 0.0,
        threads: int = 0,
        queue_size: int = 32,
        thinking: bool = False,
        **model_options: Any,
    ) -> None:
        # Not LlamaCPP's constructor, which loads the model at once, in the caller's thread.
        super(LlamaCPP, self).__init__(
            model_url=None,
            model_path=str(model_path),
            context_window=context_window,
            max_new_tokens=max_new_tokens,
            temperature=temperature,
            verbose=False,
        )
        threads = threads or os.cpu_count() or 1
        options = {"n_ctx": context_window, "n_threads": threads, "n_threads_batch": threads, **model_options}
        self._vocabulary = Vocabulary(Path(model_path), thinking=thinking)
        self._runtime = LlamaRuntime(partial(load_llama, Path(model_path), **options), queue_size=queue_size)

    @classmethod
    def class_name(cls) -> str:
        """Name of this class in LlamaIndex's serialized form."""
        return "LlamaLLM"

    @property
    def metadata(self) -> LLMMetadata:
        """The window, the longest reply by default, and the file's name."""
        return LLMMetadata(
            context_window=self.context_window,
            num_output=self.max_new_tokens,
            is_chat_model=True,
            model_name=Path(self.model_path or "").name,
        )

    def prompt(self, messages: Sequence[ChatMessage]) -> str:
        """Return `messages` in the file's own chat template."""
        return chat_prompt.render(messages, self._vocabulary.template, self._vocabulary.control_texts)

    def tokens(self, messages: Sequence[ChatMessage]) -> list[int]:
        """Return the tokens of the templated prompt; no weights are needed."""
        return self._vocabulary.tokenize(self.prompt(messages))

    def beginning(self, first: Sequence[ChatMessage], second: Sequence[ChatMessage]) -> list[int]:
        """Return the tokens that the prompts of both begin with."""
        tokens = self.tokens(first)
        return tokens[: shared(tokens, self.tokens(second))]

    async def read_ahead(self, first: Sequence[ChatMessage], second: Sequence[ChatMessage]) -> None:
        """Read what both prompts begin with in the background; any other call ends it, and so does cancelling it.

        Does nothing while the weights are not loaded. Raises `Busy` when too much waits in the background.
        """
        tokens = await asyncio.to_thread(self.beginning, first, second)
        if len(tokens) < self.context_window:
            await self._runtime.read(tokens)

    def close(self) -> None:
        """Stop the running call, free the model and end its thread."""
        self._runtime.close()

    def _request(self, prompt: str, options: Options) -> Request:
        tokens = self._vocabulary.tokenize(prompt)
        max_tokens = self.max_new_tokens if options.max_tokens is None else options.max_tokens
        if len(tokens) + max_tokens > self.context_window:
            raise input_too_large(prompt_tokens=len(tokens), max_tokens=max_tokens, window=self.context_window)
        return Request(
            tokens=tuple(tokens),
            max_tokens=max_tokens,
            stop=options.stop_texts,
            schema=options.schema,
            temperature=self.temperature if options.temperature is None else options.temperature,
            background=options.background,
        )

    def _pieces(self, prompt: str, **kwargs: Any) -> Generator[Piece, None, None]:
        request = self._request(prompt, Options(**kwargs))
        if chat_prompt.opens_thinking(prompt):
            yield _THINKING_OPENED
        yield from self._runtime.stream_sync(request)

    async def _apieces(self, make_prompt: Callable[[], str], **kwargs: Any) -> AsyncGenerator[Piece, None]:
        options = Options(**kwargs)
        prompt = await asyncio.to_thread(make_prompt)
        request = await asyncio.to_thread(self._request, prompt, options)
        if chat_prompt.opens_thinking(prompt):
            yield _THINKING_OPENED
        pieces = self._runtime.stream(request)
        try:
            async for piece in pieces:
                yield piece
        finally:
            await pieces.aclose()

    def _one(self, prompt: str, formatted: bool) -> str:
        return prompt if formatted else self.prompt([ChatMessage(role=MessageRole.USER, content=prompt)])

    @llm_chat_callback()
    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Return the reply. Keyword arguments: see `Options`."""
        return chat_response(*joined(self._pieces(self.prompt(messages), **kwargs)))

    @llm_chat_callback()
    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        """Yield the reply as it is made. Keyword arguments: see `Options`."""
        return stream(self._pieces(self.prompt(messages), **kwargs), chat_response)

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Return the reply to one user message, or the continuation of a `formatted` prompt."""
        return completion_response(*joined(self._pieces(self._one(prompt, formatted), **kwargs)))

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        """Yield the reply to one user message, or the continuation of a `formatted` prompt."""
        return stream(self._pieces(self._one(prompt, formatted), **kwargs), completion_response)

    @llm_chat_callback()
    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Return the reply without blocking the event loop; cancelling stops the model."""
        pieces = self._apieces(partial(self.prompt, messages), **kwargs)
        return chat_response(*joined([piece async for piece in pieces]))

    async def aweigh(
        self, messages: Sequence[ChatMessage], choices: Sequence[Sequence[str]], *, background: bool = False
    ) -> list[float] | None:
        """Return how likely the reply begins with one of the texts of each choice; nothing is written.

        Only the first token of a text counts, and not if it begins texts of two choices. None when the template makes
        the model reason first.
        """

        def prepared() -> tuple[Request, list[set[int]]] | None:
            prompt = self.prompt(messages)
            if chat_prompt.opens_thinking(prompt):
                return None
            request = self._request(prompt, Options(max_tokens=1, background=background))
            return request, [set(map(self._vocabulary.first_token, texts)) for texts in choices]

        found = await asyncio.to_thread(prepared)
        return None if found is None else await self._runtime.weigh(*found)

    @llm_chat_callback()
    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseAsyncGen:
        """Yield the reply as it is made; closing the iterator stops the model."""
        return astream(self._apieces(partial(self.prompt, messages), **kwargs), chat_response)

    @llm_completion_callback()
    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Like `complete`, without blocking the event loop; cancelling stops the model."""
        pieces = self._apieces(partial(self._one, prompt, formatted), **kwargs)
        return completion_response(*joined([piece async for piece in pieces]))

    @llm_completion_callback()
    async def astream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseAsyncGen:
        """Like `stream_complete`, without blocking the event loop; closing the iterator stops the model."""
        return astream(self._apieces(partial(self._one, prompt, formatted), **kwargs), completion_response)
