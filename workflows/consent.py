"""Steps that offer to ask an expert, and hear whether the user wants it: nothing is sent before a yes."""

import uuid

from llama_index.core.workflow import Context, step

from condensery.errors import RefusalReason
from condensery.prompts.loader import prompts_for
from condensery.services import Services
from condensery.workflows.ending import EndingSteps
from condensery.workflows.events import (
    AgentCall,
    AnswerDelta,
    Answered,
    ChatCleared,
    ChatStart,
    CondensedQuestion,
    ContextRejected,
    MetaQuestion,
    QuestionRejected,
    TurnEnded,
)
from condensery.workflows.expert_events import ConsentHeard
from condensery.workflows.gate import GateSteps
from condensery.workflows.memory import MemorySteps
from condensery.workflows.phrases import consent_in
from condensery.workflows.stage import noted, stage
from condensery.workflows.turn import Outcome


class ConsentSteps(GateSteps, MemorySteps, EndingSteps):
    """Where the documents do not answer, the turn ends in an offer; the next message may take it."""

    services: Services

    @step(accept_event_subclasses=True)
    async def gate(self, ctx: Context, start: ChatStart) -> ChatCleared | MetaQuestion | ConsentHeard:
        """Hear a yes or no, if the last turn asked for one; any other message is looked at as ever."""
        return await self._consent_in(start) or await GateSteps.gate(self, ctx, start)

    async def _consent_in(self, start: ChatStart) -> ConsentHeard | None:
        """A yes or no to the last turn's offer, in the language that this was made in where the words allow."""
        if isinstance(start, AgentCall) or consent_in(start.message, self.services.prompts.locale) is None:
            return None
        offered = await self.services.expert_requests.offered_last(start.key.conversation_id, start.key.user_id)
        said = consent_in(start.message, offered.locale) if offered else None
        return ConsentHeard(request_id=offered.id, given=said.given, locale=said.locale) if offered and said else None

    @stage
    async def ask_consent(self, ctx: Context, rejected: ContextRejected) -> TurnEnded:
        """Say what was not found, and ask whether an expert may be sent the question."""
        return await self._with_offer(ctx, await EndingSteps.refuse(self, ctx, rejected))

    @step(accept_event_subclasses=True)
    async def refuse(self, ctx: Context, rejected: QuestionRejected) -> TurnEnded:
        """Say why there is no answer; what no document answers is not refused, but offered to be asked."""
        return await EndingSteps.refuse(self, ctx, rejected)

    @step(accept_event_subclasses=True)
    async def remember(self, ctx: Context, question: CondensedQuestion, answered: Answered) -> TurnEnded:
        """End the answered turn; one that found nothing to quote ends in the offer, too."""
        ended = await MemorySteps.remember(self, ctx, question, answered)
        return await self._with_offer(ctx, ended) if answered.outcome is Outcome.REFUSED else ended

    @stage
    async def answer_consent(self, ctx: Context, heard: ConsentHeard) -> TurnEnded:
        """After a yes the question goes on its way when this turn is over; after a no nothing does."""
        requests, texts = self.services.expert_requests, prompts_for(heard.locale)
        outcome, reason = Outcome.ASKS_EXPERT, None
        if not heard.given:
            await requests.refuse(heard.request_id)
            outcome, reason, text = Outcome.REFUSED, RefusalReason.NOTHING_FOUND, texts.text("experts.not_asked")
        elif asked := await requests.ask(heard.request_id, hours=self.services.settings.experts.wait_hours):
            until = f"{asked.expires_at:%Y-%m-%d %H:%M} UTC"
            text = texts.text("experts.asking", question=asked.text, until=until)
        else:
            outcome, reason, text = Outcome.REFUSED, RefusalReason.NOTHING_FOUND, texts.text("experts.too_late")
        ctx.write_event_to_stream(AnswerDelta(text=text))
        return TurnEnded(answer=text, outcome=outcome, reason=reason)

    async def _with_offer(self, ctx: Context, ended: TurnEnded) -> TurnEnded:
        """The ended turn, with the offer to send exactly its question; as it is when nobody can be asked."""
        question, settings = ended.question, self.services.settings.experts
        if question is None:
            return ended
        if not settings.offers:
            noted("no expert is asked: experts.enabled, experts.channel")
            return ended
        prompts = self.services.prompts
        await self.services.expert_requests.offer(
            uuid.uuid4().hex[:12], question, locale=prompts.locale, channel=settings.channel
        )
        offer = prompts.text("experts.offer", question=question.question)
        ctx.write_event_to_stream(AnswerDelta(text=f"\n\n{offer}"))
        return ended.model_copy(update={"answer": f"{ended.answer}\n\n{offer}", "outcome": Outcome.ASKS_CONSENT})
