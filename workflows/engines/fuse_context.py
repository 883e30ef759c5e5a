"""A model's rewrite and what the last turns were about, weighed together: each mends some of the other's mistakes."""

from collections.abc import Sequence

from condensery.models.chat import ChatModel
from condensery.prompts.loader import Prompts
from condensery.retrieval.types import Probe
from condensery.settings import Settings
from condensery.workflows.engines.base import PreparedQuery
from condensery.workflows.engines.condense_context import CondenseContext
from condensery.workflows.engines.expand_context import ExpandContext
from condensery.workflows.engines.safety import prepare_safely
from condensery.workflows.turn import Exchange

REWRITE = 0.4
"""The share of what is asked that the rewrite gets; the message keeps the rest. See docs/decisions/fuse-context.md."""

ITS_OWN_TIME = 0.9
"""The share of `condense.seconds` a rewrite may take, so that time is left to go on without it."""


class FuseContext:
    """Rewrites as `condense_context` does and carries as `expand_context` does; without a rewrite, that alone."""

    def __init__(self, settings: Settings, model: ChatModel | None, prompts: Prompts) -> None:
        self._limits = settings.condense
        self._condense = CondenseContext(settings, model, prompts)
        self._expand = ExpandContext(settings.condense, prompts.locale)

    async def prepare(self, message: str, history: Sequence[Exchange]) -> PreparedQuery:
        expanded = await self._expand.prepare(message, history)
        rewritten = await prepare_safely(
            self._condense,
            message,
            history,
            seconds=ITS_OWN_TIME * self._limits.seconds,
            max_chars=self._limits.max_chars,
        )
        if rewritten.reason:
            return PreparedQuery(expanded.search_query, message, rewritten.reason, expanded.probes)
        if not rewritten.condensed:
            return expanded
        return PreparedQuery(rewritten.search_query, message, probes=fused(rewritten.search_query, message, expanded))

    async def read_ahead(self, history: Sequence[Exchange]) -> None:
        """Let a local model read the beginning of the next rewrite's prompt while nobody waits for it."""
        await self._condense.read_ahead(history)

    def lent(self, history: Sequence[Exchange]) -> list[str]:
        """The texts of earlier turns that the dense arm is given when the next message leans on them."""
        return self._expand.lent(history)


def fused(rewrite: str, message: str, expanded: PreparedQuery) -> tuple[Probe, ...]:
    """The rewrite and the message by their shares, and what the last turns lend."""
    asked = (
        Probe(text=message, dense=1 - REWRITE, lexical=1 - REWRITE),
        Probe(text=rewrite, dense=REWRITE, lexical=REWRITE),
    )
    return asked + expanded.probes[1:]
