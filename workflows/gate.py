"""The gate before any effect: small talk and questions about the assistant itself are answered without a search."""

from llama_index.core.workflow import Context
from llama_index.core.workflow.utils import get_steps_from_class  # type: ignore[attr-defined]

from condensery.services import Services
from condensery.workflows.events import AgentCall, AnswerDelta, ChatCleared, ChatStart, MetaQuestion, TurnEnded
from condensery.workflows.meta import Asked, reply_to
from condensery.workflows.phrases import SMALL_TALK, all_phrases, gated
from condensery.workflows.stage import stage
from condensery.workflows.turn import Outcome


class GateSteps:
    """Clears a chat message or answers it; a programmatic call is always cleared."""

    services: Services

    @stage
    async def gate(self, ctx: Context, start: ChatStart) -> ChatCleared | MetaQuestion:
        """Clear the message, or answer small talk and questions about the assistant without a search."""
        settings = self.services.settings
        if isinstance(start, AgentCall) or not settings.gate.enabled:
            return ChatCleared()
        if (found := gated(start.message, all_phrases(), settings.locale)) is None:
            return ChatCleared()
        return MetaQuestion(
            key=start.key,
            kind=found.kind,
            locale=found.locale,
            small_talk=found.kind in SMALL_TALK,
            options=start.options,
        )

    @stage
    async def answer_meta(self, ctx: Context, meta: MetaQuestion) -> TurnEnded:
        """Reply to small talk, or tell about the assistant: what it can do, its documents, what it remembers."""
        text = await reply_to(Asked(meta, self.services, frozenset(get_steps_from_class(type(self)))))
        ctx.write_event_to_stream(AnswerDelta(text=text))
        return TurnEnded(answer=text, outcome=Outcome.SMALL_TALK if meta.small_talk else Outcome.META)
