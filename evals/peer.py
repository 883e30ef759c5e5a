"""The peer: LlamaIndex's own `CondensePlusContextChatEngine`, over our retriever, with our model.

It gets what is ours to give: the same model (the LlamaIndex `LLM` inside our `ChatModel`), the same documents, the same
retrieval method and the same number of results. How it condenses and prompts is its own.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.chat_engine import CondensePlusContextChatEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from condensery.errors import ConfigError
from condensery.evals.choices import no_model
from condensery.evals.data import Case
from condensery.retrieval.types import Retriever, Scope, ScoredChunk, SearchQuery
from condensery.services import Services
from condensery.storage.scope import attributes
from condensery.workflows.turn import Exchange


@dataclass(frozen=True)
class PeerFound:
    """What the peer searched for and found; `ms` are its condensing and its retrieval."""

    question: str
    chunks: tuple[ScoredChunk, ...]
    ms: dict[str, float]


class OurRetriever(BaseRetriever):
    """Our retriever as LlamaIndex calls one; keeps what it was asked last, what it found, and when."""

    def __init__(self, retriever: Retriever, limit: int) -> None:
        super().__init__()
        self._retriever, self._limit = retriever, limit
        self.asked = ""
        self.found: tuple[ScoredChunk, ...] = ()
        self.began = self.ended = 0.0

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        raise NotImplementedError("the peer is only used asynchronously")

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self.asked, self.began = query_bundle.query_str, time.perf_counter()
        query = SearchQuery(text=self.asked)
        self.found = tuple(await self._retriever.search(query, scope=Scope(), limit=self._limit))
        self.ended = time.perf_counter()
        return [
            NodeWithScore(
                node=TextNode(id_=each.chunk.id, text=each.chunk.text, metadata=attributes(each.chunk)),
                score=each.score,
            )
            for each in self.found
        ]


class Peer:
    """The peer with the model of the settings. Raises `ConfigError` without one, or for a method more than a base."""

    def __init__(self, services: Services, methods: Sequence[str] = ()) -> None:
        model = services.model
        if model is None or not model.capable:
            raise ConfigError(f"the peer cannot run: {no_model(model)}")
        self._services = services
        self._llm = model.llm
        for method in methods:
            self._base(method)

    def engine(self, case: Case, method: str) -> tuple[CondensePlusContextChatEngine, OurRetriever]:
        """A chat engine with the turn's history, and the retriever that it asks."""
        base = self._services.retriever(self._base(method))
        retriever = OurRetriever(base, self._services.settings.retrieval.top_k)
        engine = CondensePlusContextChatEngine.from_defaults(
            retriever=retriever, llm=self._llm, chat_history=messages(case.history)
        )
        return engine, retriever

    def _base(self, method: str) -> str:
        plan = self._services.plan(method)
        if plan.hyde or plan.reranked:
            raise ConfigError(f"the peer searches with semantic, bm25 or hybrid, not with {plan.name}")
        return plan.base

    async def search(self, case: Case, method: str) -> PeerFound:
        """Condense and retrieve as it does before it answers."""
        engine, retriever = self.engine(case, method)
        began = time.perf_counter()
        try:
            await engine._arun_c3(case.message)
        finally:
            await closed(engine)
        ms = {"condense": (retriever.began - began) * 1000, "retrieve": (retriever.ended - retriever.began) * 1000}
        return PeerFound(retriever.asked, retriever.found, {stage: round(each, 2) for stage, each in ms.items()})


async def closed(engine: CondensePlusContextChatEngine) -> None:
    """End the thread of the SQLite store in which it keeps its history; it would outlive the event loop."""
    store = getattr(engine._memory, "sql_store", None)
    if (opened := getattr(store, "_async_engine", None)) is not None:
        await opened.dispose()


def messages(history: tuple[Exchange, ...]) -> list[ChatMessage]:
    """Exchanges as LlamaIndex takes a history."""
    return [
        ChatMessage(role=role, content=text)
        for exchange in history
        for role, text in ((MessageRole.USER, exchange.message), (MessageRole.ASSISTANT, exchange.answer))
        if text
    ]
