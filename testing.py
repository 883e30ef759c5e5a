"""Doubles for tests of code built on Condensery: a scripted chat model, a recording embedder, an in-memory memory.

All are deterministic, need no files and no network, and keep what they were given so that a test can look at it.
"""

import asyncio
import hashlib
import math
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseGen,
    LLMMetadata,
    MessageRole,
)
from llama_index.core.llms.custom import CustomLLM
from pydantic import PrivateAttr

from condensery.memory.in_memory import InMemoryMemory
from condensery.models.passages import Passage, PassageVectors

__all__ = ["Call", "InMemoryMemory", "RecordingEmbedder", "Scripted", "ScriptedLLM"]

Scripted = str | Exception | Callable[[Sequence[ChatMessage]], str]


@dataclass(frozen=True)
class Call:
    """One call of a `ScriptedLLM`: the messages it got and the keyword arguments beside them."""

    messages: tuple[ChatMessage, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """All message texts, joined by newlines."""
        return "\n".join(message.content or "" for message in self.messages)


class ScriptedLLM(CustomLLM):
    """A LlamaIndex `LLM` that gives the scripted replies in order and then repeats the last one.

    A reply is a text, an exception to raise, or a function of the messages. `delay_seconds` passes before every piece;
    `gate`, when given, is awaited before the first. Streams come in pieces of `piece_chars` characters.
    """

    context_window: int = 4096
    delay_seconds: float = 0.0
    piece_chars: int = 3
    _replies: list[Scripted] = PrivateAttr()
    _calls: list[Call] = PrivateAttr(default_factory=list)
    _gate: asyncio.Event | None = PrivateAttr(default=None)
    _finished: int = PrivateAttr(default=0)

    def __init__(self, *replies: Scripted, gate: asyncio.Event | None = None, **fields: Any) -> None:
        super().__init__(**fields)
        self._replies = list(replies) or ["ok"]
        self._gate = gate

    @property
    def calls(self) -> list[Call]:
        """Every call so far, oldest first, those that failed or were cancelled included."""
        return self._calls

    @property
    def finished(self) -> int:
        """How many asynchronous calls ran to their end; a cancelled one does not count."""
        return self._finished

    @property
    def metadata(self) -> LLMMetadata:
        """A chat model with the given window."""
        return LLMMetadata(context_window=self.context_window, is_chat_model=True, model_name="scripted")

    def _next_reply(self, messages: Sequence[ChatMessage], kwargs: dict[str, Any]) -> str:
        reply = self._replies[min(len(self._calls), len(self._replies) - 1)]
        self._calls.append(Call(tuple(messages), kwargs))
        if isinstance(reply, Exception):
            raise reply
        return reply if isinstance(reply, str) else reply(messages)

    def _pieces(self, reply: str) -> list[str]:
        return [reply[i : i + self.piece_chars] for i in range(0, len(reply), self.piece_chars)]

    async def _paced(self, reply: str) -> AsyncIterator[str]:
        if self._gate is not None:
            await self._gate.wait()
        for piece in self._pieces(reply):
            await asyncio.sleep(self.delay_seconds)
            yield piece
        self._finished += 1

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Return the next reply at once."""
        return _response(self._next_reply(messages, kwargs))

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        """Yield the next reply in pieces."""
        reply = self._next_reply(messages, kwargs)
        return (_response(text, delta) for text, delta in _growing(self._pieces(reply)))

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Return the next reply after the gate and the delays."""
        return _response("".join([piece async for piece in self._paced(self._next_reply(messages, kwargs))]))

    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseAsyncGen:
        """Yield the next reply in pieces, after the gate and with the delays."""
        return self._astream(self._next_reply(messages, kwargs))

    async def _astream(self, reply: str) -> ChatResponseAsyncGen:
        text = ""
        async for piece in self._paced(reply):
            text += piece
            yield _response(text, piece)

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Return the next reply to one user message."""
        return CompletionResponse(text=self._next_reply([_user(prompt)], kwargs))

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        """Yield the next reply to one user message in pieces."""
        reply = self._next_reply([_user(prompt)], kwargs)
        return (CompletionResponse(text=text, delta=delta) for text, delta in _growing(self._pieces(reply)))


class RecordingEmbedder:
    """An embedder whose vectors come from a hash of the text: equal texts are equal, others nearly orthogonal.

    `queries` and `documents` hold every text it was given, in order.
    """

    def __init__(self, *, dimension: int = 384, name: str = "recording") -> None:
        self.name = name
        self.dimension = dimension
        self.queries: list[str] = []
        self.documents: list[str] = []

    @property
    def texts(self) -> list[str]:
        """Everything that reached this embedder."""
        return self.queries + self.documents

    async def embed_query(self, text: str) -> list[float]:
        """Record `text` and return its unit vector."""
        self.queries.append(text)
        return _unit_vector(text, self.dimension)

    async def embed_documents(
        self, texts: Sequence[str], on_batch: Callable[[int], None] | None = None
    ) -> list[list[float]]:
        """Record `texts` and return their unit vectors; they count as one batch."""
        return [each.vector for each in await self.embed_passages([Passage(text) for text in texts], on_batch)]

    async def embed_passages(
        self, passages: Sequence[Passage], on_batch: Callable[[int], None] | None = None
    ) -> list[PassageVectors]:
        """Record the texts and return their unit vectors and those of their spans."""
        self.documents.extend(passage.text for passage in passages)
        if on_batch is not None and passages:
            on_batch(len(passages))
        return [
            PassageVectors(
                _unit_vector(each.text, self.dimension),
                [_unit_vector(each.text[start:end], self.dimension) for start, end in each.spans],
            )
            for each in passages
        ]

    async def close(self) -> None:
        """Do nothing: there is nothing to free."""


def _user(prompt: str) -> ChatMessage:
    return ChatMessage(role=MessageRole.USER, content=prompt)


def _response(text: str, delta: str | None = None) -> ChatResponse:
    return ChatResponse(message=ChatMessage(role=MessageRole.ASSISTANT, content=text), delta=delta)


def _growing(pieces: Sequence[str]) -> list[tuple[str, str]]:
    return [("".join(pieces[: i + 1]), piece) for i, piece in enumerate(pieces)]


def _unit_vector(text: str, dimension: int) -> list[float]:
    data = hashlib.shake_256(text.encode("utf-8", "surrogatepass")).digest(dimension)
    centred = [byte - 127.5 for byte in data]
    length = math.sqrt(sum(value * value for value in centred))
    return [value / length for value in centred]
