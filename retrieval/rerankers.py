"""The rerankers, as a visible table: each scores passages against a question. A new one is a line here."""

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from llama_index.core.llms import ChatMessage

from condensery.errors import ProviderError, UnknownName
from condensery.models.chat import ChatModel, InputTooLarge
from condensery.models.cross_encoder import CrossEncoderPool
from condensery.prompts.loader import Prompts
from condensery.retrieval.types import Placement, ScoredChunk
from condensery.settings import Rerank


class NoModel(ProviderError):
    """The reranker needs a model, and none is configured."""


class Reranker(Protocol):
    """Judges passages: one score each, in their order, higher for a better answer to `question`."""

    async def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """Return the scores. Raises `ProviderError` when the model fails."""
        ...


@dataclass(frozen=True)
class RerankerParts:
    """What rerankers are made of; `llm` gives the chat model of `rerank.llm`."""

    settings: Rerank
    cross_encoders: CrossEncoderPool
    llm: Callable[[], ChatModel | None]
    prompts: Prompts


class LlmReranker:
    """Asks a chat model whether a passage answers the question; the probability of its yes is the score.

    The question comes first in the prompt, so that a local model reads it once for all passages. A passage too long
    for the model's window is judged in halves, and the better half counts.
    """

    def __init__(self, model: ChatModel | None, prompts: Prompts) -> None:
        self._model = model
        self._prompts = prompts

    async def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """Return probabilities between 0 and 1. Raises `NoModel`, or another `ProviderError`."""
        if self._model is None:
            raise NoModel("the reranker llm needs a model; set rerank.llm or llm.model")
        model, turns = self._model, asyncio.Semaphore(self._model.parallel)

        async def judged(passage: str) -> float:
            async with turns:
                return await self._judged(model, question, passage)

        tasks = [asyncio.create_task(judged(passage)) for passage in passages]
        try:
            return await asyncio.gather(*tasks)
        finally:  # after a failure, and when nobody waits any more, the rest is not worth judging
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _judged(self, model: ChatModel, question: str, passage: str) -> float:
        asked = self._prompts.render("judge", question=question, passage=passage)
        yes, no = self._prompts.text("judge.yes"), self._prompts.text("judge.no")
        try:
            return await model.yes_probability([ChatMessage(role="user", content=asked)], yes=yes, no=no)
        except InputTooLarge:
            if len(passage) < 2:
                raise
        middle = (passage.rfind(" ", 0, len(passage) // 2) + 1) or len(passage) // 2
        return max([await self._judged(model, question, half) for half in (passage[:middle], passage[middle:])])


RERANKERS: dict[str, Callable[[RerankerParts], Reranker | None]] = {
    "cross_encoder": lambda parts: parts.cross_encoders.get(parts.settings.model, parts.settings.batch_size),
    "llm": lambda parts: LlmReranker(parts.llm(), parts.prompts),
    "none": lambda parts: None,
}


def open_reranker(parts: RerankerParts) -> Reranker | None:
    """Return the reranker of the settings, None for none.

    Raises `UnknownName`, which lists the choices, and `ConfigError` for a model that is not there.
    """
    name = parts.settings.reranker
    if name not in RERANKERS:
        raise UnknownName("reranker", name, list(RERANKERS))
    return RERANKERS[name](parts)


def reranked(chunks: Sequence[ScoredChunk], scores: Sequence[float]) -> list[ScoredChunk]:
    """Return `chunks` by their scores, the best first; equal ones keep their order. Raises ProviderError for NaN."""
    if len(scores) != len(chunks) or not all(map(math.isfinite, scores)):
        raise ProviderError("the reranker gave no usable scores")
    order = sorted(range(len(chunks)), key=lambda at: -scores[at])
    return [
        _placed(chunks[at], scores[at], reranked=Placement(rank=rank, score=scores[at]))
        for rank, at in enumerate(order, 1)
    ]


def final(chunks: Sequence[ScoredChunk]) -> tuple[ScoredChunk, ...]:
    """Return `chunks` with their final ranks in their traces."""
    return tuple(
        _placed(found, found.score, final=Placement(rank=rank, score=found.score))
        for rank, found in enumerate(chunks, 1)
    )


def _placed(found: ScoredChunk, score: float, **placements: Placement) -> ScoredChunk:
    trace = found.trace.model_copy(update=placements)
    return found.model_copy(update={"score": score, "trace": trace})
