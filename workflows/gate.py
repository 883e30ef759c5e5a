"""The gate before any effect: small talk and questions about the assistant itself are answered without a search."""

from llama_index.core.workflow import Context

from condensery.prompts.loader import prompts_for
from condensery.services import Services
from condensery.workflows.events import AgentCall, AnswerDelta, ChatCleared, ChatStart, MetaQuestion, TurnEnded
from condensery.workflows.phrases import SMALL_TALK, all_phrases, gated
from condensery.workflows.stage import stage
from condensery.workflows.turn import Outcome

MOST_NAMES = 20


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
        return MetaQuestion(kind=found.kind, locale=found.locale, small_talk=found.kind in SMALL_TALK)

    @stage
    async def answer_meta(self, ctx: Context, meta: MetaQuestion) -> TurnEnded:
        """Reply to small talk, or tell about the assistant and its documents."""
        text = await self._meta_text(meta)
        ctx.write_event_to_stream(AnswerDelta(text=text))
        return TurnEnded(answer=text, outcome=Outcome.SMALL_TALK if meta.small_talk else Outcome.META)

    async def _meta_text(self, meta: MetaQuestion) -> str:
        prompts = prompts_for(meta.locale)
        if meta.kind != "documents":
            return prompts.text(f"{'small_talk' if meta.small_talk else 'meta'}.{meta.kind}")
        if not (documents := await self.services.documents.list()):
            return prompts.text("meta.no_documents")
        names = [document.title or document.source for document in documents]
        more = ["…"] if len(names) > MOST_NAMES else []
        return prompts.text("meta.documents", count=str(len(names)), names=", ".join(names[:MOST_NAMES] + more))
