"""The last steps: `refuse` says why there is no answer, `finish` stores the turn and ends it."""

from llama_index.core.workflow import Context

from condensery.errors import RefusalReason
from condensery.services import Services
from condensery.workflows.assembly import assembled
from condensery.workflows.citations import cited
from condensery.workflows.events import (
    AnswerDelta,
    ChatStart,
    CondensedQuestion,
    ContextRejected,
    EvidenceReady,
    QuestionRejected,
    TurnEnded,
    TurnFinished,
)
from condensery.workflows.honesty import evidence_of, reason_for, refusal
from condensery.workflows.memory import to_remember
from condensery.workflows.stage import stage, stages_of
from condensery.workflows.telling import acknowledged, only_told
from condensery.workflows.turn import Outcome


class FinishSteps:
    """Every way out of a turn leads through `finish`, which alone joins the user's message to the rest."""

    services: Services

    @stage
    async def finish(self, ctx: Context, start: ChatStart, ended: TurnEnded) -> TurnFinished:
        """Join the user's message to what came of it, and store the turn."""
        answered = ended.answered
        turn = assembled(
            start.key,
            start.message,
            answer=ended.answer,
            outcome=ended.outcome,
            reason=ended.reason,
            question=ended.question,
            method=ended.method,
            answer_mode=answered.mode if answered else None,
            evidence=answered.chunks if answered else ended.evidence,
            citations=answered.citations if answered else cited(ended.answer, ended.evidence),
            memories=answered.memories if answered else (),
            stages=await stages_of(ctx),
        )
        await self.services.turns.save(turn, ended.outbox and ended.outbox.asked(start.asked_at))
        return TurnFinished(turn=turn)


class EndingSteps(FinishSteps):
    """The ways out of a turn that searches documents."""

    @stage
    async def refuse(self, ctx: Context, rejected: QuestionRejected | ContextRejected) -> TurnEnded:
        """Say why there is no answer; where nothing was asked, what becomes of what was told."""
        reason, evidence = reason_for(rejected), evidence_of(rejected)
        if reason is RefusalReason.NOTHING_ASKED and rejected.question is not None:
            return await self._acknowledge(ctx, rejected.question)
        text = refusal(self.services.prompts, rejected)
        if isinstance(rejected, ContextRejected):
            ctx.write_event_to_stream(EvidenceReady(chunks=evidence))
        ctx.write_event_to_stream(AnswerDelta(text=text))
        method = rejected.method if isinstance(rejected, ContextRejected) else None
        question = rejected.question
        return TurnEnded(
            answer=text,
            outcome=Outcome.REFUSED,
            reason=reason,
            question=question,
            evidence=evidence,
            method=method,
            outbox=await to_remember(self.services, question, ""),
        )

    async def _acknowledge(self, ctx: Context, told: CondensedQuestion) -> TurnEnded:
        text = await acknowledged(self.services, told.key.user_id or "", only_told(told))
        ctx.write_event_to_stream(AnswerDelta(text=text))
        outbox = await to_remember(self.services, told, "")
        return TurnEnded(answer=text, outcome=Outcome.SMALL_TALK, question=told, outbox=outbox)
