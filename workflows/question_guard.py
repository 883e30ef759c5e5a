"""The guard before the search: which questions are answered at all, by examples of both kinds."""

import asyncio
import logging
from typing import TYPE_CHECKING, NamedTuple

from condensery.errors import ProviderError
from condensery.models.chat import ChatModel
from condensery.models.embedding import Embedder
from condensery.prompts.loader import Prompts
from condensery.settings import FewShot
from condensery.tracing import degraded, noted, surviving
from condensery.workflows.examples import ExampleIndex, read_examples
from condensery.workflows.few_shot import Ruling
from condensery.workflows.labelling import chosen_label, to_show

if TYPE_CHECKING:
    from condensery.services import Services

log = logging.getLogger(__name__)

ACCEPT, REJECT = "accept", "reject"
LEAST_LIKE = 0.25
"""Cosine to its nearest examples below which a question is like none of them, and nothing is known against it."""

OPENING_SECONDS = 60.0
"""All that the guard does may take this long: the first question of a process waits for the vectors of the examples."""

UNSEEN = "accepted unseen"

QuestionGuard = ExampleIndex
"""Examples of the labels `accept` and `reject`."""


def open_question_guard(settings: FewShot, embedder: Embedder) -> QuestionGuard | None:
    """The guard of the settings, None for none; raises `ConfigError` for examples that it cannot decide by."""
    if settings.guard_examples is None:
        return None
    return ExampleIndex(read_examples(settings.guard_examples, (ACCEPT, REJECT)), embedder)


def rejects(ruling: Ruling, margin: float) -> bool:
    """Whether a question is clearly like what is rejected; in doubt it is answered."""
    return ruling.label == REJECT and ruling.clear(margin) and ruling.neighbours[0].similarity >= LEAST_LIKE


class Judge(NamedTuple):
    """A model that reads examples, and the prompts that it is asked with."""

    model: ChatModel
    prompts: Prompts


def open_judge(services: "Services") -> Judge | None:
    """The judge of the settings; None where the nearest examples decide, as they do without a capable model."""
    model = services.model
    if services.settings.few_shot.judge != "llm" or model is None or not model.capable:
        return None
    return Judge(model, services.prompts)


async def rejected(question: str, guard: QuestionGuard | None, settings: FewShot, judge: Judge | None = None) -> bool:
    """Whether the guard rejects `question`; what goes wrong lets it through, with the reason in the stage's note.

    Without a `judge`, and when it fails or takes too long, the nearest examples decide.
    """
    if guard is None:
        return False
    if not settings.enabled:
        noted("switched off")
        return False
    async with surviving(UNSEEN, what="the guard", seconds=OPENING_SECONDS):
        await guard.warm()
        if judge is not None and (label := await _judged(question, guard, settings, judge)) is not None:
            noted(f"{label}ed by {judge.model.name}")
            return label == REJECT
        async with surviving(UNSEEN, what="the guard", seconds=settings.seconds, setting="few_shot.seconds"):
            ruling = await guard.rule(question, neighbours=settings.neighbours)
            likeness = ", ".join(f"{label} {score:.2f}" for label, score in ruling.scores.items())
            noted(f"{REJECT if rejects(ruling, settings.margin) else ACCEPT}ed: like {likeness}")
            return rejects(ruling, settings.margin)
    return False


async def _judged(question: str, guard: QuestionGuard, settings: FewShot, judge: Judge) -> str | None:
    """What the model says, `accept` or `reject`; None, with the reason in the note, when it says neither."""
    try:
        async with asyncio.timeout(settings.llm_seconds):
            examples = to_show(await guard.nearest(question, len(guard.examples)))
            return await chosen_label(judge.model, judge.prompts, question, examples, (ACCEPT, REJECT))
    except TimeoutError:
        degraded(f"judged by the examples: the model took longer than few_shot.llm_seconds = {settings.llm_seconds:g}")
    except ProviderError as error:
        degraded(f"judged by the examples: {error}")
    except ValueError:
        degraded("judged by the examples: the model's reply names neither accept nor reject")
    return None
