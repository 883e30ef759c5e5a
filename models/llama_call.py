"""What goes into one call of a local model, and LlamaIndex's responses made of what comes out."""

from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, TypeVar

from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse, MessageRole

from condensery.models.llama_runtime import Piece
from condensery.models.types import FinishReason

R = TypeVar("R")
MakeResponse = Callable[[str, FinishReason | None, str | None], R]


@dataclass(frozen=True)
class Options:
    """What a call may set; an unknown name is a `TypeError`, never ignored.

    `response_format` is OpenAI's: `{"type": "json_object"}` or `{"type": "json_schema", "json_schema": {"schema": …}}`.
    `background`: the call waits until no interactive one does.
    """

    max_tokens: int | None = None
    stop: str | Sequence[str] | None = None
    response_format: dict[str, Any] | None = None
    temperature: float | None = None
    background: bool = False

    def __post_init__(self) -> None:
        if self.max_tokens is not None and self.max_tokens < 1:
            raise ValueError(f"max_tokens must be at least 1, got {self.max_tokens}")

    @property
    def stop_texts(self) -> tuple[str, ...]:
        """The texts that end the reply."""
        return (self.stop,) if isinstance(self.stop, str) else tuple(self.stop or ())

    @property
    def schema(self) -> dict[str, Any] | None:
        """The JSON schema of the reply, if it must be JSON."""
        asked = self.response_format or {"type": "text"}
        if asked["type"] == "text":
            return None
        schema: dict[str, Any] = asked.get("json_schema", asked).get("schema", {"type": "object"})
        return schema


def chat_response(text: str, reason: FinishReason | None, delta: str | None = None) -> ChatResponse:
    """The reply so far as a LlamaIndex chat response."""
    message = ChatMessage(role=MessageRole.ASSISTANT, content=text)
    return ChatResponse(message=message, delta=delta, raw={"finish_reason": reason})


def completion_response(text: str, reason: FinishReason | None, delta: str | None = None) -> CompletionResponse:
    """The reply so far as a LlamaIndex completion response."""
    return CompletionResponse(text=text, delta=delta, raw={"finish_reason": reason})


def joined(pieces: Iterable[Piece]) -> tuple[str, FinishReason | None]:
    """The whole text and the reason for its end."""
    every = list(pieces)
    return "".join(piece.text for piece in every), every[-1].finish_reason if every else None


def stream(pieces: Iterable[Piece], make: MakeResponse[R]) -> Generator[R, None, None]:
    """Yield a response per piece, each with the text so far and the new part."""
    text = ""
    for piece in pieces:
        text += piece.text
        yield make(text, piece.finish_reason, piece.text)


async def astream(pieces: AsyncGenerator[Piece, None], make: MakeResponse[R]) -> AsyncGenerator[R, None]:
    """Yield a response per piece; closing this closes `pieces`."""
    text = ""
    async with aclosing(pieces):
        async for piece in pieces:
            text += piece.text
            yield make(text, piece.finish_reason, piece.text)
