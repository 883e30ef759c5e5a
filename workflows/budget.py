"""Fits a prompt into a model's window: memory blocks go first, then the oldest turns, then the weakest chunks.

The user's message never goes; too large even alone, it is refused.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from llama_index.core.llms import ChatMessage, MessageRole

from condensery.errors import Refusal, RefusalReason
from condensery.memory.types import Remembered
from condensery.models.chat import ChatModel
from condensery.retrieval.types import ScoredChunk
from condensery.settings import Settings
from condensery.workflows.events import PromptMessage
from condensery.workflows.turn import Exchange

CountTokens = Callable[[Sequence[ChatMessage]], Awaitable[int]]


@dataclass(frozen=True)
class PromptParts:
    """The parts of a prompt. `chunks` are strongest first, `history` is oldest first, `memories` the dearest first.

    `last` renders the final user message from the chunks that are left; `remember` renders blocks of the memories that
    are left, a system message each.
    """

    system: str
    last: Callable[[tuple[ScoredChunk, ...]], str]
    history: tuple[Exchange, ...] = ()
    memories: tuple[Remembered, ...] = ()
    chunks: tuple[ScoredChunk, ...] = ()
    remember: Callable[[tuple[Remembered, ...]], Sequence[str]] = lambda memories: [each.text for each in memories]

    def messages(self) -> tuple[PromptMessage, ...]:
        """System text and history first, so that prompts of one conversation share their beginning."""
        return (
            PromptMessage(role="system", content=self.system),
            *(message for exchange in self.history for message in _both_sides(exchange)),
            *(PromptMessage(role="system", content=block) for block in self.remember(self.memories)),
            PromptMessage(role="user", content=self.last(self.chunks)),
        )

    @property
    def droppable(self) -> int:
        """How many parts can go."""
        return len(self.memories) + len(self.history) + len(self.chunks)

    def without(self, dropped: int) -> "PromptParts":
        """These parts less `dropped` of them: memories from the weakest, then the oldest turns, then weakest chunks."""
        memories = min(dropped, len(self.memories))
        turns = min(dropped - memories, len(self.history))
        chunks = dropped - memories - turns
        return replace(
            self,
            memories=self.memories[: len(self.memories) - memories],
            history=self.history[turns:],
            chunks=self.chunks[: len(self.chunks) - chunks],
        )


@dataclass(frozen=True)
class Fitted:
    """A prompt that fits, and exactly the chunks and memories that are in it."""

    messages: tuple[PromptMessage, ...]
    chunks: tuple[ScoredChunk, ...]
    memories: tuple[Remembered, ...]


def input_budget(settings: Settings, model: ChatModel, max_output_tokens: int) -> int:
    """Tokens a prompt for `model` may have."""
    return min(settings.limits.input_tokens, model.context_window - max_output_tokens)


async def fit(parts: PromptParts, budget: int, count: CountTokens) -> Fitted:
    """The fullest prompt of at most `budget` tokens; `Refusal(input_too_large)` when the message alone is more.

    Each part that goes makes the prompt shorter, so that bisecting finds the fewest that must go.
    """

    async def fits(dropped: int) -> bool:
        return await count(as_chat(parts.without(dropped).messages())) <= budget

    if await fits(0):
        return _fitted(parts)
    too_few, enough = 0, parts.droppable
    if not enough or not await fits(enough):
        raise Refusal(RefusalReason.INPUT_TOO_LARGE)
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        too_few, enough = (too_few, middle) if await fits(middle) else (middle, enough)
    return _fitted(parts.without(enough))


def _fitted(parts: PromptParts) -> Fitted:
    return Fitted(messages=parts.messages(), chunks=parts.chunks, memories=parts.memories)


def as_chat(messages: Sequence[PromptMessage]) -> list[ChatMessage]:
    """Prompt messages as LlamaIndex takes them."""
    return [ChatMessage(role=MessageRole(message.role), content=message.content) for message in messages]


def _both_sides(exchange: Exchange) -> tuple[PromptMessage, PromptMessage]:
    return (
        PromptMessage(role="user", content=exchange.message),
        PromptMessage(role="assistant", content=exchange.answer),
    )
