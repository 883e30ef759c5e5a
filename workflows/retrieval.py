"""Steps from the standalone question to ranked evidence. None of them can receive the user's own words."""

from llama_index.core.workflow import Context

from condensery.retrieval.types import SearchQuery
from condensery.services import Services
from condensery.workflows.events import (
    CondensedQuestion,
    ContextAccepted,
    ContextRejected,
    QuestionRejected,
    Ranked,
    Retrieved,
    SearchProbe,
    SearchRequest,
)
from condensery.workflows.stage import stage


class RetrievalSteps:
    """Guard, hypothesize, retrieve, rerank, judge."""

    services: Services

    @stage
    async def few_shot_guard(self, ctx: Context, question: CondensedQuestion) -> SearchRequest | QuestionRejected:
        """Pass the question on to the search."""
        return SearchRequest(question=question, query=question.question)

    @stage
    async def hypothesize(self, ctx: Context, request: SearchRequest) -> SearchProbe:
        """Pass the request on as it is."""
        return SearchProbe(request=request)

    @stage
    async def retrieve(self, ctx: Context, probe: SearchProbe) -> Retrieved:
        """Search with the chosen method, within the scope of the turn."""
        options = probe.request.question.options
        method = options.method or self.services.settings.retrieval.method
        chunks = await self.services.retriever(method).search(
            SearchQuery(text=probe.request.query, passage=probe.passage),
            scope=options.scope,
            limit=self.services.settings.retrieval.top_k,
        )
        return Retrieved(request=probe.request, method=method, chunks=tuple(chunks))

    @stage
    async def rerank(self, ctx: Context, retrieved: Retrieved) -> Ranked:
        """Pass the results on in their order."""
        return Ranked(request=retrieved.request, method=retrieved.method, chunks=retrieved.chunks)

    @stage
    async def judge_context(self, ctx: Context, ranked: Ranked) -> ContextAccepted | ContextRejected | SearchRequest:
        """Reject an empty result; accept any other."""
        question = ranked.request.question
        if not ranked.chunks:
            return ContextRejected(question=question, method=ranked.method)
        return ContextAccepted(question=question, method=ranked.method, chunks=ranked.chunks)
