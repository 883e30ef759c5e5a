"""One non-streaming model call that rewrites the message as a standalone question (Rewrite-Retrieve-Read).

What was measured: docs/decisions/condense-context.md.
"""

import asyncio
from collections.abc import Sequence

from llama_index.core.llms import ChatMessage

from condensery.errors import Refusal, RefusalReason
from condensery.models.chat import ChatModel
from condensery.prompts.loader import Prompts
from condensery.settings import Settings
from condensery.workflows.budget import input_budget
from condensery.workflows.engines import judging
from condensery.workflows.engines.base import PreparedQuery
from condensery.workflows.engines.carrying import searchable
from condensery.workflows.engines.judging import judge
from condensery.workflows.engines.rewriting import prompts_of
from condensery.workflows.turn import Exchange, FallbackReason


class CondenseContext:
    """Rewrites with the chat model. Every unusable reply becomes the message itself, with the reason."""

    def __init__(self, settings: Settings, model: ChatModel | None, prompts: Prompts) -> None:
        self._settings = settings
        self._model = model
        self._prompts = prompts

    async def prepare(self, message: str, history: Sequence[Exchange]) -> PreparedQuery:
        if self._model is None:
            return PreparedQuery(message, message, FallbackReason.NO_MODEL)
        limits = self._settings.condense
        seen = searchable(history, limits.max_chars)
        messages = await self._fitting(self._model, message, seen)
        reply = await self._model.complete(messages, max_tokens=limits.max_output_tokens)
        return await asyncio.to_thread(judge, reply, message, seen, limits.max_chars)

    async def read_ahead(self, history: Sequence[Exchange]) -> None:
        """Let a local model read the beginning of the next rewrite's prompt while nobody waits for it."""
        if self._model is not None:
            await asyncio.to_thread(judging.load)
            seen = searchable(history, self._settings.condense.max_chars)
            first, second = (next(prompts_of(self._prompts, message, seen)) for message in ("a", "b"))
            await self._model.read_ahead(first, second)

    async def _fitting(self, model: ChatModel, message: str, history: Sequence[Exchange]) -> list[ChatMessage]:
        budget = input_budget(self._settings, model, self._settings.condense.max_output_tokens)
        for messages in prompts_of(self._prompts, message, history):
            if await model.count_tokens(messages) <= budget:
                return messages
        raise Refusal(RefusalReason.INPUT_TOO_LARGE)
