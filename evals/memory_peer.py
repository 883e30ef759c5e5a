"""The peer: mem0 by its own defaults, with our embedder and our model.

It gets every turn as a program gives it by mem0's documentation: both messages, `infer=True`, its own prompt, its own
rules for what is a duplicate, its own search with its own threshold.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from condensery.evals.choices import no_model
from condensery.evals.memory_results import MEM0
from condensery.evals.memory_scoring import DEPTH, Kept, Played
from condensery.evals.memory_systems import Clock, Moment
from condensery.memory.mem0_home import import_mem0
from condensery.memory.mem0_parts import PROVIDER, EmbedderBridge, Mem0LLM, open_pool
from condensery.models.chat import ChatModel
from condensery.services import Services

WINDOW = 12_000
"""Tokens: mem0's own prompt has about 8,000, to which a turn, what is known, and the reply come."""
MAX_TOKENS = 2_000
"""Of a reply, as mem0 has it."""
LISTED = 1_000
TABLE = "eval_mem0"
_PEER = f"{PROVIDER}_peer"


class PeerLLM:
    """mem0's view of a `Mem0LLM`, which arrives as the `model` of its configuration."""

    def __init__(self, config: Any) -> None:
        self.config = config
        self.generate_response = config.model.generate_response


class Mem0Peer:
    """mem0's `AsyncMemory` over a table of its own."""

    name = MEM0
    extraction = "mem0"

    def __init__(self, memory: Any) -> None:
        self._memory = memory
        self._turns: dict[str, int] = {}
        self._ever: dict[str, list[Kept]] = {}

    async def take_in(self, moment: Moment, played: Played) -> dict[str, float]:
        """Add both messages of the turn."""
        clock = Clock()
        messages = [{"role": "user", "content": moment.message}, {"role": "assistant", "content": moment.answer}]
        added = await self._memory.add(messages, user_id=moment.user)
        for each in added["results"]:
            self._turns.setdefault(each["id"], moment.number)
            self._ever.setdefault(moment.user, []).append(Kept(each["memory"], moment.number))
        clock.lap("extract")
        return clock.ms

    async def recall(self, user: str, ask: str, language: str) -> list[str]:
        """What its search finds."""
        found = await self._memory.search(ask, filters={"user_id": user}, top_k=DEPTH)
        return [each["memory"] for each in found["results"]]

    async def kept(self, user: str) -> tuple[list[Kept], list[Kept]]:
        """What it lists, and what it said it had added."""
        found = await self._memory.get_all(filters={"user_id": user}, top_k=LISTED)
        ordered = sorted(found["results"], key=lambda each: str(each.get("created_at")))
        return [Kept(each["memory"], self._turns.get(each["id"])) for each in ordered], self._ever.get(user, [])


def unfit(model: ChatModel | None) -> str | None:
    """Why mem0's defaults cannot run with `model`; None when they can."""
    if reason := no_model(model):
        return reason
    if model is not None and model.context_window < WINDOW:
        return (
            f"its own prompt has about 8,000 tokens and needs a window of {WINDOW:,}; {model.name} has "
            f"{model.context_window:,}: set llm.context_window higher, or another llm.model"
        )
    return None


@asynccontextmanager
async def opened_peer(services: Services) -> AsyncIterator[Mem0Peer]:
    """The peer with the model of the settings, which must be fit."""
    settings = services.settings
    model = services.model_for(settings.memory.model, settings.memory.api_key)
    assert model is not None and unfit(model) is None, "asked for a peer that cannot run"  # noqa: S101, PT018
    llm = Mem0LLM(model, asyncio.get_running_loop(), max_tokens=MAX_TOKENS)
    pool = await asyncio.to_thread(open_pool, services.database.url)
    try:
        bridge = EmbedderBridge(services.embedder)
        yield Mem0Peer(
            await asyncio.to_thread(_open, settings.data_dir, bridge, services.embedder.dimension, pool, llm)
        )
    finally:
        await asyncio.to_thread(pool.close)


def _open(data_dir: Path, bridge: EmbedderBridge, dimension: int, pool: Any, llm: Mem0LLM) -> Any:
    main = import_mem0(data_dir)
    from mem0.configs.base import MemoryConfig
    from mem0.embeddings.configs import EmbedderConfig
    from mem0.llms.configs import LlmConfig
    from mem0.utils.factory import EmbedderFactory, LlmFactory
    from mem0.vector_stores.configs import VectorStoreConfig

    EmbedderFactory.provider_to_class[_PEER] = "condensery.memory.mem0_parts.Mem0Embedder"
    LlmFactory.register_provider(_PEER, f"{__name__}.{PeerLLM.__name__}")
    table = {"collection_name": TABLE, "embedding_model_dims": dimension, "connection_pool": pool}
    return main.AsyncMemory(
        MemoryConfig(
            vector_store=VectorStoreConfig(provider="pgvector", config=table),
            embedder=EmbedderConfig.model_construct(provider=_PEER, config={"model": bridge}),
            llm=LlmConfig.model_construct(provider=_PEER, config={"model": llm}),
            history_db_path=str(data_dir / "peer.db"),
        )
    )
