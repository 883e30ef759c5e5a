"""Turns to store, and how a history reads."""

from typing import Any

from condensery.retrieval.types import Chunk, Placement, ScoredChunk, Trace
from condensery.storage.turns import TurnRepository
from condensery.workflows.turn import Outcome, Turn, TurnKey


def a_turn(turn_id: str, *, conversation_id: str = "c", user_id: str | None = None, **fields: Any) -> Turn:
    key = TurnKey(turn_id=turn_id, conversation_id=conversation_id, user_id=user_id)
    values = {"message": f"message {turn_id}", "answer": f"answer {turn_id}", "outcome": Outcome.ANSWERED} | fields
    return Turn.model_validate({"key": key} | values)


def evidence(body: str = "Notice is three months.", score: float = 0.5) -> tuple[ScoredChunk, ...]:
    trace = Trace(arms={"bm25": Placement(rank=1, score=2.5)}, fused=Placement(rank=1, score=score))
    return (ScoredChunk(chunk=Chunk(id="k", text=body, source="a.pdf", page=2, end=23), score=score, trace=trace),)


async def the_history(repository: TurnRepository, **limits: Any) -> list[str]:
    generous = {"max_turns": 100, "max_chars": 100_000}
    return [each.message for each in await repository.history("c", **(generous | limits))]
