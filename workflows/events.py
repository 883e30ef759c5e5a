"""The vocabulary of a turn: one event per hand-off, as drawn in docs/guides/workflow.md.

`ChatStart`, `HistoryLimited`, `EnrichedHistory`, `MetaQuestion` and `AnswerPrompt` carry the user's own words;
everything that searches, remembers or asks an expert descends from `CondensedQuestion`, which does not.
"""

from typing import Annotated, Any, Self

from llama_index.core.workflow import Event, StartEvent, StopEvent
from pydantic import AfterValidator, Field, model_validator

from condensery.errors import RefusalReason
from condensery.retrieval.types import Frozen, ScoredChunk
from condensery.workflows.turn import Citation, Exchange, FallbackReason, Outcome, StageRecord, Turn, TurnKey, TurnOptions


def not_blank(text: str) -> str:
    """Return `text`; raise ValueError when it has no visible character."""
    if not text.strip():
        raise ValueError("must not be blank")
    return text


class _Strict:
    """LlamaIndex's events accept any field; ours reject what they do not declare, so that a typo is an error."""

    model_fields: Any

    @model_validator(mode="before")
    @classmethod
    def reject_unknown_fields(cls, values: Any) -> Any:
        unknown = set(values) - set(cls.model_fields) if isinstance(values, dict) else set()
        if unknown:
            raise ValueError(f"unknown fields for {cls.__name__}: {', '.join(sorted(unknown))}")
        return values
