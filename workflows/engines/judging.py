"""Whether a rewrite can be searched with; pure functions, but the first one that compares languages loads a model."""

from collections.abc import Sequence

from condensery.models.hygiene import clean_rewrite
from condensery.models.types import Reply
from condensery.workflows.engines.base import PreparedQuery
from condensery.workflows.engines.grounding import adds, is_grounded, keeps
from condensery.workflows.engines.languages import differ
from condensery.workflows.own_words import is_question
from condensery.workflows.turn import Exchange, FallbackReason


def judge(reply: Reply, message: str, history: Sequence[Exchange], max_chars: int) -> PreparedQuery:
    """The rewrite when it can be used, else the message with the reason why not.

    A rewrite that says nothing but the message in other words has nothing to give: the message is searched for as it
    is, and that is no fallback.
    """
    rewrite = question_of(clean_rewrite(reply.text).text)
    if reason := fault(reply, rewrite, message, history, max_chars):
        return PreparedQuery(message, message, reason)
    return PreparedQuery(rewrite if adds(rewrite, message) else message, message)


def question_of(text: str) -> str:
    """The question on one line: its first line, and those after it that ask as well; explanations below it go."""
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    asking = next((at for at, line in enumerate(lines[1:], start=1) if not is_question(line)), len(lines))
    return " ".join(lines[:asking])


def fault(
    reply: Reply, rewrite: str, message: str, history: Sequence[Exchange], max_chars: int
) -> FallbackReason | None:
    """Why a rewrite cannot be used, None when it can."""
    if not rewrite:
        return FallbackReason.UNFINISHED_THINKING if reply.unfinished_thinking else FallbackReason.BLANK
    if len(rewrite) > max_chars or reply.finish_reason == "length":
        return FallbackReason.TOO_LONG
    if differ(message, rewrite, history[-1].message if history else ""):
        return FallbackReason.OTHER_LANGUAGE
    if not keeps(rewrite, message):
        return FallbackReason.LOST_WORDS
    context = " ".join(f"{exchange.message} {exchange.answer}" for exchange in history)
    return None if is_grounded(rewrite, f"{message} {context}") else FallbackReason.UNGROUNDED
