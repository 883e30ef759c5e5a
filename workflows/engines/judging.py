"""Whether a rewrite can be searched with; pure functions, but the first one that compares languages loads a model."""

import re
from collections.abc import Sequence

from condensery.models.hygiene import clean_rewrite
from condensery.models.types import Reply
from condensery.retrieval.text import is_blank, uniform
from condensery.workflows.engines import languages, stating
from condensery.workflows.engines.base import PreparedQuery
from condensery.workflows.engines.grounding import adds, is_grounded, keeps
from condensery.workflows.engines.languages import differ
from condensery.workflows.engines.stating import invents, loses, restated
from condensery.workflows.own_words import is_question, own_words
from condensery.workflows.turn import Exchange, FallbackReason

_NAMES_OF_A_QUESTION = r"\b(?:question|query|frage|anfrage|suchanfrage|requête|domanda|richiesta)\b"
_PREFACE = re.compile(rf"[^:：?]{{0,80}}{_NAMES_OF_A_QUESTION}[^:：?]{{0,40}}[:：]\s*", re.IGNORECASE)
"""A sentence that introduces the question ("Natürlich! Hier ist die Frage: …"), or the key of a JSON object."""


def load() -> None:
    """Read what judging needs, so that the first rewrite does not have to wait for it. Blocks."""
    languages.load()
    stating.load()


def judge(reply: Reply, message: str, history: Sequence[Exchange], max_chars: int) -> PreparedQuery:
    """The rewrite when it can be used, else the message with the reason why not.

    A rewrite that says nothing but the message in other words has nothing to give: the message is searched for as it
    is, and that is no fallback. What the person states of themselves stays stated, in front of the question if need be.
    """
    rewrite = without_preface(question_of(clean_rewrite(reply.text).text), message)
    if reason := fault(reply, rewrite, message, history, max_chars):
        return PreparedQuery(message, message, reason)
    if not adds(rewrite, message):
        return PreparedQuery(message, message)
    question = restated(rewrite, message)
    if len(question) > max_chars:
        return PreparedQuery(message, message, FallbackReason.LOST_WORDS)
    return PreparedQuery(question, message)


def question_of(text: str) -> str:
    """The question on one line: its first line, and those after it that ask as well; explanations below it go.

    Tagged blocks (`<thought>…</thought>`) and what cannot be seen, control characters and lone surrogates, go as well.
    """
    lines = [" ".join(line.split()) for line in own_words(uniform(text)).splitlines() if not is_blank(line)]
    asking = next((at for at, line in enumerate(lines[1:], start=1) if not is_question(line)), len(lines))
    return " ".join(lines[:asking])


def without_preface(rewrite: str, message: str) -> str:
    """`rewrite` without what introduces it, whatever the courtesies; of a message about a question it stays as is."""
    preface = _PREFACE.match(rewrite)
    if preface is None or re.search(_NAMES_OF_A_QUESTION, message, re.IGNORECASE):
        return rewrite
    question = rewrite[preface.end() :]
    if rewrite.startswith("{"):
        question = question.rstrip(" }")
    return clean_rewrite(question).text


def fault(
    reply: Reply, rewrite: str, message: str, history: Sequence[Exchange], max_chars: int
) -> FallbackReason | None:
    """Why a rewrite cannot be used, None when it can."""
    if is_blank(rewrite):
        return FallbackReason.UNFINISHED_THINKING if reply.unfinished_thinking else FallbackReason.BLANK
    if len(rewrite) > max_chars or reply.finish_reason == "length":
        return FallbackReason.TOO_LONG
    if differ(message, rewrite, history[-1].message if history else ""):
        return FallbackReason.OTHER_LANGUAGE
    if not keeps(rewrite, message) or loses(rewrite, message):
        return FallbackReason.LOST_WORDS
    # The question that stands for a long message may hold words that an answer lent to it: nobody said those.
    if invents(rewrite, message, " ".join(exchange.message for exchange in history if not exchange.shortened)):
        return FallbackReason.UNGROUNDED
    context = " ".join(f"{exchange.message} {exchange.answer}" for exchange in history)
    return None if is_grounded(rewrite, f"{message} {context}") else FallbackReason.UNGROUNDED
