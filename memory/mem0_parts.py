"""What mem0 is made of here: the process's own embedder and model, and connections to the same Postgres."""

import asyncio
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

from llama_index.core.base.llms.types import ChatMessage
from sqlalchemy import URL

from condensery.errors import ConfigError
from condensery.memory.mem0_home import history_path, import_mem0
from condensery.models.chat import ChatModel
from condensery.models.embedding import Embedder
from condensery.storage.memories import TABLE

if TYPE_CHECKING:
    from psycopg_pool import ConnectionPool

CONNECTIONS = 4
CONNECT_SECONDS = 10
PROVIDER = "condensery"

embedded: ContextVar[Mapping[str, Sequence[float]]] = ContextVar("embedded", default={})  # noqa: B039
"""Vectors that are known already, by text: what is in here is not embedded again."""


class EmbedderBridge:
    """The process's embedder, for calls from mem0's threads. Make it on the event loop that the embedder runs on."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._loop = asyncio.get_running_loop()

    def embed(self, text: str, query: bool) -> list[float]:
        """Embed `text` on the event loop and wait for it in this thread."""
        if (known := embedded.get().get(text)) is not None:
            return list(known)
        return asyncio.run_coroutine_threadsafe(self._embed(text, query), self._loop).result()

    async def _embed(self, text: str, query: bool) -> list[float]:
        if query:
            return await self._embedder.embed_query(text)
        return (await self._embedder.embed_documents([text]))[0]


class Mem0Embedder:
    """mem0's view of an `EmbedderBridge`, which arrives as the `model` of its configuration."""

    def __init__(self, config: Any) -> None:
        self.config = config
        self._bridge: EmbedderBridge = config.model

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        """The vector of one text; questions and facts may have different prefixes."""
        return self._bridge.embed(text, query=memory_action == "search")

    def embed_batch(self, texts: Sequence[str], memory_action: str | None = None) -> list[list[float]]:
        """One vector per text."""
        return [self.embed(text, memory_action) for text in texts]


class Mem0LLM:
    """A `ChatModel` as mem0 calls models: blocking, from a thread that is not the event loop's."""

    def __init__(self, model: ChatModel, loop: asyncio.AbstractEventLoop, *, max_tokens: int) -> None:
        self._model = model
        self._loop = loop
        self._max_tokens = max_tokens

    def generate_response(
        self, messages: Sequence[Mapping[str, str]], response_format: Mapping[str, Any] | None = None, **_: Any
    ) -> str:
        """The reply to `messages`; a JSON object when `response_format` says so. Raises `ProviderError`."""
        schema = {"type": "object"} if (response_format or {}).get("type") == "json_object" else None
        prompt = [ChatMessage(role=message["role"], content=message["content"]) for message in messages]
        call = self._model.complete(prompt, max_tokens=self._max_tokens, json_schema=schema, background=True)
        return asyncio.run_coroutine_threadsafe(call, self._loop).result().text


class NoLLM:
    """Stands where mem0 wants a model: facts are found before they reach it."""

    def __init__(self, config: Any = None) -> None:
        self.config = config

    def generate_response(self, *_: Any, **__: Any) -> str:
        """Refuse."""
        raise ConfigError("mem0 was asked to find facts; hand it facts that were found before (infer=False)")


# Postgres takes the vector index for people with many facts. It then goes on until it has found enough that are theirs:
# by default it would give up when those of others are nearer.
SEARCH = (
    "SET hnsw.iterative_scan = strict_order",
    "SET hnsw.ef_search = 200",
    "SET hnsw.max_scan_tuples = 2147483647",
    "SET hnsw.scan_mem_multiplier = 100",
)


def open_pool(url: URL) -> "ConnectionPool[Any]":
    """Connections for mem0, made when first needed and made anew after a restart of the server. Blocks."""
    from psycopg_pool import ConnectionPool

    # Nothing is prepared: a general plan of mem0's queries, whose keys are parameters, could not use the indexes.
    # Each of its statements is a transaction of its own in any case.
    pool: ConnectionPool[Any] = ConnectionPool(
        conninfo_of(url),
        kwargs={"prepare_threshold": None, "autocommit": True},
        min_size=0,
        max_size=CONNECTIONS,
        check=ConnectionPool.check_connection,
        configure=_search_on,
        timeout=CONNECT_SECONDS,
        name="memory",
        open=False,
    )
    pool.open()
    return pool


def _search_on(connection: Any) -> None:
    for statement in SEARCH:
        connection.execute(statement)


def conninfo_of(url: URL) -> str:
    """`url`, which is asyncpg's, as libpq writes it."""
    from psycopg.conninfo import make_conninfo

    query = {name: ",".join(values) for name, values in url.normalized_query.items()}
    if "ssl" in query:
        query["sslmode"] = query.pop("ssl")
    where = url.translate_connect_args(username="user", database="dbname") | query
    return make_conninfo("", connect_timeout=CONNECT_SECONDS, application_name="condensery", **where)


def open_mem0(data_dir: Path, bridge: EmbedderBridge, dimension: int, pool: "ConnectionPool[Any]") -> Any:
    """An `AsyncMemory` over `TABLE`, which exists. Blocks for seconds the first time in a process."""
    main = import_mem0(data_dir)
    from mem0.configs.base import MemoryConfig
    from mem0.embeddings.configs import EmbedderConfig
    from mem0.llms.configs import LlmConfig
    from mem0.utils.factory import EmbedderFactory, LlmFactory
    from mem0.vector_stores.configs import VectorStoreConfig

    here = __name__
    EmbedderFactory.provider_to_class[PROVIDER] = f"{here}.{Mem0Embedder.__name__}"
    LlmFactory.register_provider(PROVIDER, f"{here}.{NoLLM.__name__}")
    table = {"collection_name": TABLE, "embedding_model_dims": dimension, "connection_pool": pool, "hnsw": False}
    memory = main.AsyncMemory(
        MemoryConfig(
            vector_store=VectorStoreConfig(provider="pgvector", config=table),
            # Its configurations allow the providers it knows; a constructed one is not checked.
            embedder=EmbedderConfig.model_construct(provider=PROVIDER, config={"model": bridge}),
            llm=LlmConfig.model_construct(provider=PROVIDER, config={}),
            history_db_path=str(history_path(data_dir)),
        )
    )
    memory.vector_store._collection_ensured = True  # ours, with our indexes; its own look-up knows only one schema
    return memory
