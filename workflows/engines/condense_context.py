"""One non-streaming model call that rewrites the message as a standalone question (Rewrite-Retrieve-Read)."""

from collections.abc import Sequence

from llama_index.core.llms import ChatMessage

from condensery.models.chat import ChatModel, Reply
from condensery.models.hygiene import clean_rewrite
from condensery.prompts.loader import Prompts
from condensery.settings import Settings
from condensery.workflows.budget import PromptParts, as_chat, fit, input_budget
from condensery.workflows.engines.base import PreparedQuery
from condensery.workflows.engines.carrying import searchable
from condensery.workflows.engines.grounding import is_grounded
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
        seen = searchable(history, self._settings.condense.max_chars)
        reply = await self._model.complete(
            await self._messages(self._model, message, seen), max_tokens=self._settings.condense.max_output_tokens
        )
        return judge(reply, message, seen, self._settings.condense.max_chars)

    async def _messages(self, model: ChatModel, message: str, history: list[Exchange]) -> list[ChatMessage]:
        parts = PromptParts(
            system=self._prompts.render("system"),
            history=tuple(history),
            last=lambda chunks: self._prompts.render("condense", message=message),
        )
        budget = input_budget(self._settings, model, self._settings.condense.max_output_tokens)
        return as_chat((await fit(parts, budget, model.count_tokens)).messages)


def judge(reply: Reply, message: str, history: Sequence[Exchange], max_chars: int) -> PreparedQuery:
    """The rewrite when it can be used, else the message with the reason why not."""
    rewrite = " ".join(clean_rewrite(reply.text).text.split())
    if reason := _fault(reply, rewrite, message, history, max_chars):
        return PreparedQuery(message, message, reason)
    return PreparedQuery(rewrite, message)


def _fault(
    reply: Reply, rewrite: str, message: str, history: Sequence[Exchange], max_chars: int
) -> FallbackReason | None:
    if not rewrite:
        return FallbackReason.UNFINISHED_THINKING if reply.unfinished_thinking else FallbackReason.BLANK
    if len(rewrite) > max_chars or reply.finish_reason == "length":
        return FallbackReason.TOO_LONG
    context = " ".join(f"{exchange.message} {exchange.answer}" for exchange in history)
    return None if is_grounded(rewrite, f"{message} {context}") else FallbackReason.UNGROUNDED
