"""The last steps: `refuse` says why there is no answer, `finish` stores the turn and ends it."""

from llama_index.core.workflow import Context

from condensery.errors import RefusalReason
from condensery.services import Services
from condensery.workflows.events import (
    AnswerDelta,
    ChatStart,
    ContextRejected,
    EvidenceReady,
    QuestionRejected,
    TurnEnded,
    TurnFinished,
)
from condensery.workflows.stage import stage, stages_of
from condensery.workflows.turn import Outcome, StageRecord, Turn


def turn_of(start: ChatStart, ended: TurnEnded, stages: tuple[StageRecord, ...]) -> Turn:
    """The turn as it is stored: the user's message joined to what came of it."""
    question, answered = ended.question, ended.answered
    return Turn(
        key=start.key,
        message=start.message,
        question=question.question if question and question.condensed else None,
        engine=question.engine if question else None,
        fallback=question.fallback if question else None,
        method=ended.method,
        answer=ended.answer,
        answer_mode=answered.mode if answered else None,
        evidence=answered.chunks if answered else (),
        citations=answered.citations if answered else (),
        stages=stages,
        outcome=ended.outcome,
        reason=ended.reason.value if ended.reason else None,
    )


class EndingSteps:
    """Every way out of a turn leads through `finish`, which alone joins the user's message to the rest."""

    services: Services

    @stage
    async def refuse(self, ctx: Context, rejected: QuestionRejected | ContextRejected) -> TurnEnded:
        """Say why there is no answer."""
        reason = rejected.reason if isinstance(rejected, QuestionRejected) else RefusalReason.NOTHING_FOUND
        text = self.services.prompts.text(f"refusal.{reason}")
        if isinstance(rejected, ContextRejected):
            ctx.write_event_to_stream(EvidenceReady(chunks=()))
        ctx.write_event_to_stream(AnswerDelta(text=text))
        method = rejected.method if isinstance(rejected, ContextRejected) else None
        return TurnEnded(answer=text, outcome=Outcome.REFUSED, reason=reason, question=rejected.question, method=method)

    @stage
    async def finish(self, ctx: Context, start: ChatStart, ended: TurnEnded) -> TurnFinished:
        """Join the user's message to what came of it, and store the turn."""
        turn = turn_of(start, ended, await stages_of(ctx))
        await self.services.turns.save(turn, ended.outbox)
        return TurnFinished(turn=turn)
