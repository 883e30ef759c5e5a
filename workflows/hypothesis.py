"""HyDE: a model writes the passage that would answer the question, and the search looks for what resembles it.

Gao et al., "Precise Zero-Shot Dense Retrieval without Relevance Labels" (2022). The passage is invented: it may steer
the search and is shown while a turn runs, but nothing stores it, judges by it or answers from it.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from functools import cache
from typing import NamedTuple

from llama_index.core.llms import ChatMessage

from condensery.errors import CondenseryError
from condensery.models.chat import ChatModel, Reply
from condensery.models.hygiene import clean_passage
from condensery.prompts.loader import Prompts, prompts_for
from condensery.prompts.locales import LOCALES
from condensery.settings import Hyde
from condensery.workflows.phrases import bare
from condensery.workflows.turn import FallbackReason

log = logging.getLogger(__name__)


class Hypothesis(NamedTuple):
    """A passage to search with, or None and the reason why there is none."""

    passage: str | None
    reason: FallbackReason | None = None


async def hypothesis_for(
    question: str, open_model: Callable[[], ChatModel | None], prompts: Prompts, limits: Hyde
) -> Hypothesis:
    """What a model makes up as an answer to `question`; whatever goes wrong is a reason, never an error."""
    if not limits.enabled:
        return Hypothesis(None, FallbackReason.SWITCHED_OFF)
    try:
        if (model := open_model()) is None:
            return Hypothesis(None, FallbackReason.NO_MODEL)
        async with asyncio.timeout(limits.seconds):
            asked = [ChatMessage(role="user", content=prompts.render("hypothesize", question=question))]
            return judged(await model.complete(asked, max_tokens=limits.max_output_tokens), limits.max_chars)
    except TimeoutError:
        return Hypothesis(None, FallbackReason.TIMED_OUT)
    except CondenseryError as error:
        log.warning("no hypothetical passage: %s", error)
    except Exception as error:
        log.error("no hypothetical passage (%s)", type(error).__name__)
        log.debug("the reason", exc_info=error)
    return Hypothesis(None, FallbackReason.ERROR)


def judged(reply: Reply, max_chars: int) -> Hypothesis:
    """The reply as a passage, without what a model writes around it; or the reason why it cannot be used."""
    passage = clean_passage(reply.text).text
    if not any(map(str.isalnum, passage)):  # a passage of dots or pictures resembles nothing that is searched
        thinking = reply.unfinished_thinking
        return Hypothesis(None, FallbackReason.UNFINISHED_THINKING if thinking else FallbackReason.BLANK)
    if reply.finish_reason == "length" or len(passage) > max_chars:
        return Hypothesis(None, FallbackReason.TOO_LONG)
    return Hypothesis(None, FallbackReason.REFUSED) if refuses(passage) else Hypothesis(passage)


def refuses(passage: str) -> bool:
    """Whether the model speaks of itself or its want of knowledge instead of answering, in any of our languages."""
    words = f" {bare(passage)} "
    opens = any(words.startswith(f" {phrase} ") for phrase in _phrases("openings"))
    return opens or any(f" {phrase} " in words for phrase in _phrases("anywhere"))


@cache
def _phrases(kind: str) -> frozenset[str]:
    every: Iterable[str] = (phrase for locale in LOCALES for phrase in prompts_for(locale).refusals[kind])
    return frozenset(map(bare, every))
