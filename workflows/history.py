"""Steps over the history: `limit_history` before condensing, `enrich_history` before the answer prompt."""

from collections.abc import Sequence

from llama_index.core.workflow import Context

from condensery.services import Services
from condensery.workflows.events import ChatStart, EnrichedHistory, HistoryLimited, OrganizationMemories, UserMemories
from condensery.workflows.stage import stage
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


class HistorySteps:
    """Limits the history, and enriches it with memories; the prompt's token budget is kept where prompts are built."""

    services: Services

    @stage
    async def limit_history(self, ctx: Context, start: ChatStart) -> HistoryLimited:
        """Keep the newest exchanges that fit `history.max_turns` and `history.max_chars`."""
        limits = self.services.settings.history
        kept = newest_within(start.history, max_turns=limits.max_turns, max_chars=limits.max_chars)
        return HistoryLimited(key=start.key, message=start.message, history=kept, options=start.options)

    @stage
    async def enrich_history(
        self, ctx: Context, limited: HistoryLimited, user: UserMemories, organization: OrganizationMemories
    ) -> EnrichedHistory:
        """Put the memories beside the history, for the answer prompt alone."""
        return EnrichedHistory(
            message=limited.message, history=limited.history, memories=(*user.facts, *organization.facts)
        )
