"""A turn up to its ranked evidence, by the product's own steps; the answer is left out."""

from typing import cast

from llama_index.core.workflow import Context, StopEvent, Workflow

from condensery.errors import RefusalReason
from condensery.evals.data import Case
from condensery.retrieval.types import ScoredChunk
from condensery.services import Services
from condensery.workflows.condense import CondenseSteps
from condensery.workflows.events import (
    AgentCall,
    CondensedQuestion,
    ContextAccepted,
    ContextRejected,
    QuestionRejected,
    Strict,
    TurnEnded,
)
from condensery.workflows.gate import GateSteps
from condensery.workflows.history import LimitSteps
from condensery.workflows.retrieval import RetrievalSteps
from condensery.workflows.stage import stage, stages_of
from condensery.workflows.turn import StageRecord, TurnKey, TurnOptions


class SearchFinished(Strict, StopEvent):
    """What was searched for and what was found, best first."""

    question: CondensedQuestion | None = None
    chunks: tuple[ScoredChunk, ...] = ()
    reason: RefusalReason | None = None
    stages: tuple[StageRecord, ...] = ()


class SearchAgent(GateSteps, LimitSteps, CondenseSteps, RetrievalSteps, Workflow):
    """The steps of a turn from its start to `judge_context`, so that what is measured is what a turn does.

    They are the steps themselves and not the functions they call: limits of the history, the question in a long
    message, fallbacks, kill switches and a step that is added later all count.
    """

    def __init__(self, services: Services) -> None:
        super().__init__(timeout=services.settings.limits.turn_seconds)
        self.services = services

    @stage
    async def end(
        self, ctx: Context, end: ContextAccepted | ContextRejected | QuestionRejected | TurnEnded
    ) -> SearchFinished:
        """End with the evidence, or with the reason why there is none."""
        stages = await stages_of(ctx)
        match end:
            case ContextAccepted() | ContextRejected():
                return SearchFinished(question=end.question, chunks=end.chunks, stages=stages)
        return SearchFinished(question=end.question, reason=end.reason, stages=stages)


async def search(agent: SearchAgent, case: Case, engine: str, method: str) -> SearchFinished:
    """Put a turn to the agent as a program does: the gate, which answers small talk, is not asked."""
    start = AgentCall(
        key=TurnKey(turn_id=case.name, conversation_id=case.name),
        message=case.message,
        history=case.history,
        options=TurnOptions(engine=engine, method=method),
    )
    return cast(SearchFinished, await agent.run(start_event=start))
