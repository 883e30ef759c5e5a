"""Steps from the standalone question to ranked evidence. None of them can receive the user's own words."""

import asyncio
import logging

from llama_index.core.workflow import Context

from condensery.errors import CondenseryError, ProviderError, RefusalReason
from condensery.memory.answers import own_question
from condensery.memory.told import is_about_oneself
from condensery.retrieval.chunking import enriched
from condensery.retrieval.plans import HYDE, RERANKED, Plan
from condensery.retrieval.rerankers import NoModel, Reranker, final, reranked
from condensery.retrieval.types import ScoredChunk, SearchQuery
from condensery.services import Services
from condensery.workflows.context_guard import verdict_on
from condensery.workflows.events import (
    CondensedQuestion,
    ContextAccepted,
    ContextRejected,
    HypothesisMade,
    QuestionRejected,
    Ranked,
    Retrieved,
    SearchProbe,
    SearchRequest,
    SearchStarted,
)
from condensery.workflows.hops import merged, next_move
from condensery.workflows.hypothesis import hypothesis_for
from condensery.workflows.question_guard import open_judge, rejected
from condensery.workflows.stage import degraded, noted, stage
from condensery.workflows.telling import only_told
from condensery.workflows.turn import FallbackReason

log = logging.getLogger(__name__)


class RetrievalSteps:
    """Guard, hypothesize, retrieve, rerank, judge."""

    services: Services

    @stage
    async def few_shot_guard(self, ctx: Context, question: CondensedQuestion) -> SearchRequest | QuestionRejected:
        """Let the question through to the search, unless it asks nothing, or is clearly like the rejected examples."""
        if only_told(question):
            return QuestionRejected(reason=RefusalReason.NOTHING_ASKED, question=question)
        services = self.services
        judge = open_judge(services)
        if await rejected(question.question, services.question_guard, services.settings.few_shot, judge):
            return QuestionRejected(reason=RefusalReason.REJECTED_BY_GUARD, question=question)
        return SearchRequest(question=question, query=question.question, probes=question.probes)

    @stage
    async def hypothesize(self, ctx: Context, request: SearchRequest) -> SearchProbe:
        """Make up a passage to search with, when the method says so; without one the question is searched with."""
        plan = self.services.plan(request.question.options.method)
        passage = await self._passage(request.query) if plan.hyde else None
        if passage is not None:
            ctx.write_event_to_stream(HypothesisMade(passage=passage))
        return SearchProbe(request=request, method=plan.name, passage=passage)

    @stage
    async def retrieve(self, ctx: Context, probe: SearchProbe) -> Retrieved:
        """Search with the base of the chosen method, within the scope of the turn; more widely when it is reranked."""
        plan = self.services.plan(probe.method)
        ctx.write_event_to_stream(SearchStarted(method=plan.name))
        return Retrieved(request=probe.request, method=plan.name, chunks=await self._searched(probe, plan))

    @stage
    async def rerank(self, ctx: Context, retrieved: Retrieved) -> Ranked:
        """Judge the results against the question, when the method says so, and keep the best."""
        plan, chunks = self.services.plan(retrieved.method), retrieved.chunks
        if plan.reranked and chunks:
            chunks = await self._reranked(retrieved.request.query, chunks)
        return Ranked(request=retrieved.request, method=retrieved.method, chunks=final(chunks[: self._kept(plan)]))

    @stage
    async def judge_context(self, ctx: Context, ranked: Ranked) -> ContextAccepted | ContextRejected | SearchRequest:
        """Accept what was found so far, reject it, or have something else searched for.

        An empty result is rejected, unless what the person told of themselves may be the answer.
        """
        request, found = ranked.request, merged(ranked.request.found, ranked.chunks)
        question = request.question
        if not found and not (question.key.user_id and is_about_oneself(own_question(question))):
            return ContextRejected(question=question, method=ranked.method)
        verdict = await verdict_on(request, found, self.services)
        return next_move(ranked, found, verdict, self.services.settings.guard.max_hops)

    async def _searched(self, probe: SearchProbe, plan: Plan) -> tuple[ScoredChunk, ...]:
        """The results; a later search that fails finds nothing, for there is evidence already."""
        request = probe.request
        query = SearchQuery(text=request.query, passage=probe.passage, probes=request.probes)
        scope, retriever = request.question.options.scope, self.services.retriever(plan.base)
        try:
            return tuple(await retriever.search(query, scope=scope, limit=self._limit(plan)))
        except ProviderError as error:
            if request.hop == 1:
                raise
            degraded(f"search {request.hop} left out: {error}")
            return ()

    async def _passage(self, question: str) -> str | None:
        services = self.services
        made = await hypothesis_for(question, services.hyde_model, services.prompts, services.settings.hyde)
        if made.reason:
            tell = noted if made.reason is FallbackReason.SWITCHED_OFF else degraded
            tell(f"{HYDE}: {made.reason}; searched with the question itself")
        return made.passage

    def _kept(self, plan: Plan) -> int:
        top_k = self.services.settings.retrieval.top_k
        return (self.services.settings.rerank.top_n or top_k) if plan.reranked else top_k

    def _limit(self, plan: Plan) -> int:
        rerank, kept = self.services.settings.rerank, self._kept(plan)
        judged = plan.reranked and rerank.enabled and rerank.reranker != "none"
        return max(rerank.candidates, kept) if judged else kept

    async def _reranked(self, question: str, chunks: tuple[ScoredChunk, ...]) -> tuple[ScoredChunk, ...]:
        limits = self.services.settings.rerank
        if not limits.enabled:
            noted(f"{RERANKED}: {FallbackReason.SWITCHED_OFF}; kept the order of the search")
            return chunks
        reason = FallbackReason.ERROR
        try:
            async with asyncio.timeout(limits.seconds):
                return await _judged(self.services.reranker(), question, chunks)
        except TimeoutError:
            reason = FallbackReason.TIMED_OUT
        except NoModel:
            reason = FallbackReason.NO_MODEL
        except CondenseryError as error:
            log.warning("reranking failed: %s", error)
        except Exception as error:
            log.error("the reranker %s failed (%s)", limits.reranker, type(error).__name__)
            log.debug("the reason", exc_info=error)
        degraded(f"{RERANKED}: {reason}; kept the order of the search")
        return chunks


async def _judged(reranker: Reranker | None, question: str, chunks: tuple[ScoredChunk, ...]) -> tuple[ScoredChunk, ...]:
    """The chunks in the reranker's order; without one in their own."""
    if reranker is None:
        return chunks
    scores = await reranker.scores(question, [enriched(found.chunk) for found in chunks])
    return tuple(reranked(chunks, scores))
