"""Where a turn is put together, however it ended: the one place that joins the user's message to what came of it."""

from condensery.errors import RefusalReason
from condensery.retrieval.types import ScoredChunk
from condensery.workflows.events import CondensedQuestion
from condensery.workflows.turn import Citation, Outcome, StageRecord, Turn, TurnKey


def assembled(
    key: TurnKey,
    message: str,
    *,
    answer: str,
    outcome: Outcome,
    reason: RefusalReason | None = None,
    question: CondensedQuestion | None = None,
    method: str | None = None,
    answer_mode: str | None = None,
    evidence: tuple[ScoredChunk, ...] = (),
    citations: tuple[Citation, ...] = (),
    memories: tuple[str, ...] = (),
    stages: tuple[StageRecord, ...] = (),
) -> Turn:
    """The turn as it is stored and shown; what was not reached is left out.

    Its engine is kept when nothing was condensed, and its question is then null.
    """
    return Turn(
        key=key,
        message=message,
        question=question.question if question and question.condensed else None,
        engine=question.engine if question else None,
        fallback=question.fallback if question else None,
        method=method,
        answer=answer,
        answer_mode=answer_mode,
        evidence=evidence,
        citations=citations,
        memories=memories,
        stages=stages,
        outcome=outcome,
        reason=reason.value if reason else None,
    )
