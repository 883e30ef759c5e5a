"""The guard behind the search: whether what was found suffices for the standalone question. It never fails a turn."""

import asyncio
import logging
from collections.abc import Sequence

from condensery.memory.answers import own_question
from condensery.memory.told import is_about_oneself
from condensery.models.chat import ChatModel
from condensery.retrieval.types import ScoredChunk
from condensery.services import Services
from condensery.tracing import degraded, noted, surviving
from condensery.workflows.engines.languages import differ
from condensery.workflows.events import CondensedQuestion, SearchRequest
from condensery.workflows.extractive import LEAST_WITHOUT_WORDS
from condensery.workflows.hops import Verdict, asks_again
from condensery.workflows.model_verdict import verdict_of
from condensery.workflows.sufficiency import Evidence, Part, missing_from, parts_of
from condensery.workflows.turn import DOUBTFUL

log = logging.getLogger(__name__)

ACCEPTED = Verdict(sufficient=True)

LEANING = 0.5
"""The share of `guard.least` that a question which leans on earlier turns needs: its own words say little."""

COVERED = 0.9
"""The share of a part's words from which on it is not searched for by itself."""

LANGUAGE_CHARS = 600
"""Of the evidence, by which its language is recognized."""


async def verdict_on(request: SearchRequest, chunks: tuple[ScoredChunk, ...], services: Services) -> Verdict:
    """Whether `chunks`, which all searches until `request` brought, suffice for its question.

    What goes wrong accepts them, with the reason in the stage's note.
    """
    question, limits = request.question, services.settings.guard
    if not limits.enabled or limits.method == "none":
        noted("not judged: switched off" if not limits.enabled else "not judged: guard.method = none")
        return ACCEPTED
    if is_about_oneself(own_question(question)):
        noted("not judged: a question about the person who asks")
        return ACCEPTED
    async with surviving("accepted unjudged", what="the guard", seconds=limits.seconds, setting="guard.seconds"):
        if model := judge_of(services):
            return told(await _by_model(model, question, chunks, services), model.name)
        return told(await _by_rules(request, chunks, services))
    return ACCEPTED


def judge_of(services: Services) -> ChatModel | None:
    """The model that judges under these settings, None when the rules do; raises `ConfigError`."""
    limits = services.settings.guard
    if limits.method != "llm" and not (limits.method == "auto" and limits.model):
        return None
    model = services.model_for(limits.model, limits.api_key)
    if model is None or not model.capable:
        degraded("judged by rules: there is no capable model")
        return None
    return model


def told(verdict: Verdict, by: str = "rules") -> Verdict:
    """`verdict`, with a note of one that is not plainly sufficient."""
    if verdict.doubtful or not verdict.sufficient:
        noted(f"{DOUBTFUL if verdict.sufficient else 'insufficient'} ({by})")
    return verdict


async def _by_model(
    model: ChatModel, question: CondensedQuestion, chunks: tuple[ScoredChunk, ...], services: Services
) -> Verdict:
    limits = services.settings
    try:
        verdict = await verdict_of(
            model, services.prompts, question.question, chunks, max_tokens=limits.guard.max_output_tokens
        )
    except ValueError:
        degraded("accepted unjudged: the model's reply is no verdict")
        return ACCEPTED
    fits = len(verdict.next_query) <= limits.condense.max_chars
    return verdict if fits else verdict.model_copy(update={"next_query": ""})


async def _by_rules(request: SearchRequest, chunks: tuple[ScoredChunk, ...], services: Services) -> Verdict:
    question, quoter, text = request.question, services.quoter, request.question.question
    weights, similar = await asyncio.gather(quoter.weights(), quoter.similarities(text, chunks))
    evidence = Evidence.of(chunks, weights.idf, similar)
    asked = asked_in(question)
    parts = [evidence.judged(part, text if asked != text else "") for part in dict.fromkeys((asked, *parts_of(asked)))]
    best = max(parts, key=lambda part: part.score)
    limits, leans = services.settings.guard, question.condensed or question.lent
    query = "" if leans else next_part(parts[1:], (text, *request.asked, request.query))
    if best.score >= limits.sure:
        return Verdict(sufficient=True, next_query=query)
    if await asyncio.to_thread(differ, asked, _sample(chunks)):
        return Verdict(sufficient=True, doubtful=(evidence.nearest or 0.0) < LEAST_WITHOUT_WORDS)
    missing = missing_from(evidence, asked)
    refused = best.score < limits.least * (LEANING if leans else 1.0) and services.answer_model is None
    return Verdict(sufficient=not refused, doubtful=not refused, missing=missing, next_query=query)


def asked_in(question: CondensedQuestion) -> str:
    """What is asked itself, without what earlier turns lend."""
    first = question.probes[0].text if question.probes else question.question
    return first if first in question.question else question.question


def next_part(parts: Sequence[Part], earlier: Sequence[str]) -> str:
    """What to search for next: of several parts the one least covered that no `earlier` search was for; "" for none.

    A part of a question that leans on earlier turns is none to search for by itself: it lacks what it is about.
    """
    wanting = [part for part in parts if part.covered < COVERED and not asks_again(part.text, earlier)]
    return min(wanting, key=lambda part: part.covered).text if wanting else ""


def _sample(chunks: Sequence[ScoredChunk]) -> str:
    return " ".join(found.chunk.text[:LANGUAGE_CHARS] for found in chunks[:2])
