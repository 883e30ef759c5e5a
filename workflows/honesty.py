"""What is said when the documents do not, or may not, hold the answer. Pure functions."""

from collections.abc import Sequence

from condensery.errors import RefusalReason
from condensery.prompts.loader import Prompts
from condensery.retrieval.types import ScoredChunk
from condensery.workflows.events import ContextAccepted, ContextRejected, QuestionRejected

MOST_NAMED = 4
"""Missing things that are named."""
MOST_SHOWN = 3
"""Passages that a refusal cites as those that come closest."""


def reason_for(rejected: QuestionRejected | ContextRejected) -> RefusalReason:
    """Why there is no answer."""
    if isinstance(rejected, QuestionRejected):
        return rejected.reason
    return RefusalReason.INSUFFICIENT_CONTEXT if rejected.chunks else RefusalReason.NOTHING_FOUND


def evidence_of(rejected: QuestionRejected | ContextRejected) -> tuple[ScoredChunk, ...]:
    """What is shown beside a refusal: what was found and did not suffice."""
    return rejected.chunks if isinstance(rejected, ContextRejected) else ()


def refusal(prompts: Prompts, rejected: QuestionRejected | ContextRejected) -> str:
    """Why there is no answer, what was not found, and citations of what comes closest."""
    said = [prompts.text(f"refusal.{reason_for(rejected)}")]
    if isinstance(rejected, ContextRejected) and rejected.chunks:
        numbers = " ".join(f"[{number}]" for number in range(1, min(len(rejected.chunks), MOST_SHOWN) + 1))
        said += [*_named(prompts, rejected.missing), prompts.text("guard.closest", numbers=numbers)]
    return " ".join(said)


def reservation(prompts: Prompts, missing: Sequence[str]) -> str:
    """That quotes may not be the answer, and what nothing that was found speaks of."""
    return " ".join([prompts.text("guard.doubtful"), *_named(prompts, missing)])


def with_caution(prompt: str, context: ContextAccepted, prompts: Prompts) -> str:
    """The answer's prompt; with a warning to the model when the sources may not hold the answer."""
    return f"{prompt}\n\n{prompts.text('guard.caution')}" if context.doubt is not None else prompt


def _named(prompts: Prompts, missing: Sequence[str]) -> list[str]:
    names = ", ".join(f"“{name}”" for name in missing[:MOST_NAMED])
    return [prompts.text("guard.missing", missing=names)] if names else []
