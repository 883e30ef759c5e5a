"""Builds the collaborators that agents are given: stores, models, retrievers and prompts."""

import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

from pydantic import SecretStr

from condensery.errors import ConfigError
from condensery.memory.control import MemoryControl
from condensery.memory.extraction import FactExtractor, open_extractor
from condensery.memory.mem0_store import open_memory
from condensery.memory.recalling import Recaller
from condensery.memory.types import OpenMemory
from condensery.models.chat import ChatModel, open_chat_model
from condensery.models.cross_encoder import CrossEncoderPool
from condensery.models.embedding import Embedder, open_embedder
from condensery.models.languages import language_notice
from condensery.models.pool import ModelPool
from condensery.prompts.loader import Prompts, prompts_for
from condensery.retrieval.methods import RetrievalParts, open_retriever
from condensery.retrieval.plans import METHOD_NAMES, Plan, plan_for
from condensery.retrieval.rerankers import Reranker, RerankerParts, open_reranker
from condensery.retrieval.types import Retriever
from condensery.settings import Settings
from condensery.settings_live import LiveSettings
from condensery.storage.database import Database, open_database
from condensery.storage.documents import DocumentRepository
from condensery.storage.experts import ExpertRequests
from condensery.storage.index import open_chunk_store
from condensery.storage.memory import MemoryUsers
from condensery.storage.outbox import OutboxRepository
from condensery.storage.proposals import ProposalRepository
from condensery.storage.settings import SettingsRepository
from condensery.storage.turns import TurnRepository
from condensery.workflows.engines.base import ChatEngine
from condensery.workflows.engines.table import open_engine
from condensery.workflows.question_guard import QuestionGuard, open_question_guard
from condensery.workflows.quoter import Quoter

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Services:
    """One process's collaborators; agents take what they need from here and own none of it.

    `settings` never change: `live` tells what they have become, and `with_settings` gives the services under those.
    """

    settings: Settings
    database: Database
    embedder: Embedder
    model: ChatModel | None
    models: ModelPool
    turns: TurnRepository
    documents: DocumentRepository
    retrieval: RetrievalParts
    prompts: Prompts
    memory: OpenMemory
    cross_encoders: CrossEncoderPool = field(default_factory=CrossEncoderPool)
    live: LiveSettings | None = None
    question_guard: QuestionGuard | None = None

    def with_settings(self, settings: Settings) -> "Services":
        """The same collaborators under settings of which only those that every turn reads anew may differ."""
        return replace(self, settings=settings, retrieval=self.retrieval.with_settings(settings.retrieval))

    def speaking(self, locale: str) -> "Services":
        """The same collaborators, with the prompts and texts of another locale."""
        return self if self.prompts.locale == locale else replace(self, prompts=self.prompts.in_locale(locale))

    def retriever(self, name: str) -> Retriever:
        """The retriever of that name: the base of a plan; raises `UnknownName`."""
        return open_retriever(name, self.retrieval)

    def plan(self, method: str | None = None) -> Plan:
        """What a retrieval method does, that of the settings when `method` is None.

        Raises `UnknownName`, which lists the choices, and `ConfigError` for parts that do not go together.
        """
        return plan_for(self.settings.retrieval.method if method is None else method, self.settings)

    def check(self, plan: Plan) -> None:
        """Raise `ConfigError` when this machine lacks a model that `plan` needs, with the way out."""
        if plan.hyde and self.settings.hyde.enabled:
            self.hyde_model()
        if plan.reranked and self.settings.rerank.enabled:
            self.reranker()

    def check_models(self) -> None:
        """Raise `ConfigError` for a stage's own model that is named and cannot be opened."""
        for stage in ("condense", "hyde", "guard", "memory"):
            own = getattr(self.settings, stage)
            self.models.get(own.model, own.api_key, setting=f"{stage}.model")
        self.models.get(self.settings.rerank.llm, self.settings.rerank.api_key, setting="rerank.llm")

    def usable_methods(self) -> list[str]:
        """Every method by its full path, but for those that need a model this machine lacks."""
        return [name for name in METHOD_NAMES if self._is_usable(name)]

    def hyde_model(self) -> ChatModel | None:
        """The model that writes hypothetical passages; raises `ConfigError` when it is not there."""
        return self.model_for(self.settings.hyde.model, self.settings.hyde.api_key)

    def reranker(self) -> Reranker | None:
        """The reranker of the settings, None for none; raises `ConfigError` when its model is not there."""
        settings = self.settings.rerank
        llm = partial(self.model_for, settings.llm, settings.api_key)
        return open_reranker(RerankerParts(settings, self.cross_encoders, llm, self.prompts))

    def engine(self, name: str) -> ChatEngine:
        """The chat engine called `name`; raises `UnknownName`."""
        condense = self.settings.condense
        return open_engine(name, self.settings, self.model_for(condense.model, condense.api_key), self.prompts)

    def model_for(self, spec: str, api_key: SecretStr | None = None) -> ChatModel | None:
        """The model of a stage that may have its own: `spec` as `llm.model` is written, "" for that model itself.

        Equal specs share one model; None for "none". Raises `ConfigError` for a spec that names no model.
        """
        return self.models.get(spec, api_key) if spec else self.model

    def _is_usable(self, method: str) -> bool:
        try:
            self.check(self.plan(method))
        except ConfigError:
            return False
        return True

    @cached_property
    def memory_users(self) -> MemoryUsers:
        """Who wants to be remembered, and what they had erased."""
        return MemoryUsers(self.database)

    @cached_property
    def outbox(self) -> OutboxRepository:
        """What is to be done after turns."""
        return OutboxRepository(self.database)

    @cached_property
    def expert_requests(self) -> ExpertRequests:
        """The questions that experts are asked, and what became of them."""
        return ExpertRequests(self.database)

    @cached_property
    def recaller(self) -> Recaller:
        """Recalls facts for a turn."""
        return Recaller(self.memory, self.memory_users.enabled, self.settings.memory)

    @cached_property
    def memory_control(self) -> MemoryControl:
        """What people can do about their memory."""
        return MemoryControl(
            self.memory,
            users=self.memory_users,
            outbox=self.outbox,
            proposals=ProposalRepository(self.database),
            settings=self.settings.memory,
        )

    def fact_extractor(self) -> FactExtractor:
        """Finds facts in what a turn said; raises `ConfigError` when its model is not there."""
        settings = self.settings.memory
        model = self.model_for(settings.model, settings.api_key)
        return open_extractor(settings, model, self.prompts, self.settings.data_dir)

    @cached_property
    def answer_model(self) -> ChatModel | None:
        """The model that writes answers, or None when answers are quoted from the evidence."""
        mode = self.settings.answer.mode
        if mode == "extractive" or self.model is None:
            return None
        return self.model if mode == "generated" or self.model.capable else None

    @property
    def quoting_for_want_of_a_model(self) -> bool:
        """Whether answers are quoted only because no capable model is configured."""
        return self.settings.answer.mode == "auto" and self.answer_model is None

    @cached_property
    def quoter(self) -> Quoter:
        """Finds what an answer without a model quotes."""
        return Quoter(self.embedder, self.documents.sentences, self.retrieval.bm25.current)


@asynccontextmanager
async def open_services(settings: Settings) -> AsyncIterator[Services]:
    """The collaborators for `settings`; everything that was opened is closed at the end."""
    async with AsyncExitStack() as stack:
        if notice := language_notice(settings):
            log.warning("%s", notice)
        database = await stack.enter_async_context(open_database(settings))
        live = LiveSettings(settings, SettingsRepository(database))
        given, settings = settings, await live.current()
        embedder = open_embedder(settings.embeddings)
        stack.push_async_callback(embedder.close)
        model = open_chat_model(settings.llm)
        if model:
            stack.push_async_callback(model.close)
        models = ModelPool(settings.llm, model)
        stack.push_async_callback(models.close)
        chunks = await open_chunk_store(database, model=embedder.name, dimension=embedder.dimension)
        documents = DocumentRepository(database, chunks)
        retrieval = RetrievalParts(settings.retrieval, embedder, chunks, documents)
        stack.push_async_callback(retrieval.bm25.close)
        services = Services(
            settings=settings,
            database=database,
            embedder=embedder,
            model=model,
            models=models,
            turns=TurnRepository(database),
            documents=documents,
            retrieval=retrieval,
            prompts=prompts_for(settings.locale),
            memory=await stack.enter_async_context(
                open_memory(database, embedder, settings.data_dir, needed=settings.memory.enabled)
            ),
            live=live,
            question_guard=open_question_guard(settings.few_shot, embedder),
        )
        services.check_models()
        stack.push_async_callback(services.cross_encoders.close)
        yield _usable(services, given)


def _usable(services: Services, given: Settings) -> Services:
    """The services; without what the database stores when that needs a model this machine lacks."""
    try:
        services.check(services.plan())
    except ConfigError as error:
        if services.settings is given:
            raise
        log.warning("the stored settings are ignored, since they cannot be met here: %s", error)
        return _usable(services.with_settings(given), given)
    return services
