"""The guard before the search: which questions are answered at all, by examples of both kinds and without a model."""

import asyncio
import logging

from condensery.errors import CondenseryError
from condensery.models.embedding import Embedder
from condensery.settings import FewShot
from condensery.tracing import degraded, noted
from condensery.workflows.examples import ExampleIndex, read_examples
from condensery.workflows.few_shot import Ruling

log = logging.getLogger(__name__)

ACCEPT, REJECT = "accept", "reject"
LEAST_LIKE = 0.25
"""Cosine to its nearest examples below which a question is like none of them, and nothing is known against it."""

OPENING_SECONDS = 30.0
"""The first question of a process may wait this long for the embedding model and the vectors of the examples."""

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


async def rejected(question: str, guard: QuestionGuard | None, settings: FewShot) -> bool:
    """Whether the guard rejects `question`; what goes wrong lets it through, with the reason in the stage's note."""
    if guard is None:
        return False
    if not settings.enabled:
        noted("switched off")
        return False
    try:
        async with asyncio.timeout(OPENING_SECONDS):
            await guard.warm()
        async with asyncio.timeout(settings.seconds):
            ruling = await guard.rule(question, neighbours=settings.neighbours)
    except TimeoutError:
        degraded(f"accepted unseen: judging took longer than few_shot.seconds = {settings.seconds:g}")
    except CondenseryError as error:
        log.warning("a question was accepted unseen: %s", error)
        degraded(f"accepted unseen: {error}")
    except Exception as error:
        log.error("a question was accepted unseen: the guard failed (%s)", type(error).__name__)
        log.debug("the reason", exc_info=error)
        degraded("accepted unseen: the guard failed; the log has the details")
    else:
        likeness = ", ".join(f"{label} {score:.2f}" for label, score in ruling.scores.items())
        noted(f"{REJECT if rejects(ruling, settings.margin) else ACCEPT}ed: like {likeness}")
        return rejects(ruling, settings.margin)
    return False
