"""Steps over the history: `limit_history` before condensing, `enrich_history` before the answer prompt."""

from collections.abc import Sequence
from typing import get_args

from llama_index.core.workflow import Context

from condensery.memory.types import Fact, Remembered, ScopeKind
from condensery.prompts.loader import Prompts
from condensery.services import Services
from condensery.workflows.budget import as_chat
from condensery.workflows.events import (
    ChatStart,
    EnrichedHistory,
    HistoryLimited,
    OrganizationMemories,
    PromptMessage,
    UserMemories,
)
from condensery.workflows.stage import noted, stage
from condensery.workflows.turn import Exchange


def newest(history: Sequence[Exchange], most: int) -> tuple[Exchange, ...]:
    """The `most` newest exchanges, oldest first."""
    return tuple(history[max(len(history) - most, 0) :])


def newest_within(history: Sequence[Exchange], *, max_turns: int, max_chars: int) -> tuple[Exchange, ...]:
    """The newest exchanges that fit both limits, oldest first; an exchange is kept whole or not at all."""
    kept: list[Exchange] = []
    left = max_chars
    for exchange in reversed(newest(history, max_turns)):
        left -= len(exchange.message) + len(exchange.answer)
        if left < 0:
            break
        kept.append(exchange)
    return tuple(reversed(kept))


class LimitSteps:
    """Limits the history that a turn begins with."""

    services: Services

    @stage
    async def limit_history(self, ctx: Context, start: ChatStart) -> HistoryLimited:
        """Keep the newest exchanges that fit `history.max_turns` and `history.max_chars`."""
        limits = self.services.settings.history
        kept = newest_within(start.history, max_turns=limits.max_turns, max_chars=limits.max_chars)
        return HistoryLimited(key=start.key, message=start.message, history=kept, options=start.options)


class HistorySteps:
    """Enriches the history with memories; the prompt's token budget is kept where prompts are built."""

    services: Services

    @stage
    async def enrich_history(
        self, ctx: Context, limited: HistoryLimited, user: UserMemories, organization: OrganizationMemories
    ) -> EnrichedHistory:
        """Put the memories beside the history, for the answer prompt alone: those of the user are the dearer ones."""
        memories = (
            *await self._within_cap("user", user.facts),
            *await self._within_cap("organization", organization.facts),
        )
        return EnrichedHistory(message=limited.message, history=limited.history, memories=memories)

    async def _within_cap(self, kind: ScopeKind, facts: tuple[Fact, ...]) -> tuple[Remembered, ...]:
        """As many facts, from the best, as `memory.max_tokens` allows in the answer's model; without one, all."""
        memories = tuple(Remembered(id=fact.id, kind=kind, text=fact.text, slot=fact.slot) for fact in facts)
        model, most = self.services.answer_model, self.services.settings.memory.max_tokens
        while model and memories and await model.count_tokens(as_chat(_as_block(self.services, memories))) > most:
            memories = memories[:-1]
        if left_out := len(facts) - len(memories):
            noted(f"{left_out} of {len(facts)} facts of the {kind} left out: memory.max_tokens")
        return memories


def memory_blocks(prompts: Prompts, memories: Sequence[Remembered]) -> list[str]:
    """The system messages that tell a model what was recalled: what the person said, and what their organization."""
    kinds: tuple[ScopeKind, ...] = get_args(ScopeKind)
    by_kind = {kind: [each.text for each in memories if each.kind == kind] for kind in kinds}
    templates = {"user": "memories", "organization": "shared_memories"}
    return [
        prompts.render(templates[kind], memories="\n".join(f"- {text}" for text in texts))
        for kind, texts in by_kind.items()
        if texts
    ]


def _as_block(services: Services, memories: Sequence[Remembered]) -> list[PromptMessage]:
    return [PromptMessage(role="system", content=block) for block in memory_blocks(services.prompts, memories)]
