"""Texts to vectors: a small protocol and its implementation on sentence-transformers, off the event loop."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from condensery.models.embedding_folder import Prefixes, dimension_of, model_folder, prefixes_of
from condensery.models.failures import provider_errors
from condensery.models.passages import Passage, PassageVectors
from condensery.models.worker import Worker
from condensery.settings import Embeddings

if TYPE_CHECKING:
    from llama_index.embeddings.huggingface import HuggingFaceEmbedding

_REMEMBERED_QUERIES = 256
_MAX_WAITING = 10_000


class Embedder(Protocol):
    """Turns texts into unit vectors of `dimension` numbers; `name` identifies the vector space an index is made of."""

    name: str
    dimension: int

    async def embed_query(self, text: str) -> list[float]:
        """Return the vector of one question. Raises `ProviderError`."""
        ...

    async def embed_documents(
        self, texts: Sequence[str], on_batch: Callable[[int], None] | None = None
    ) -> list[list[float]]:
        """Return one vector per text, in order. `on_batch` gets the size of every batch once it is done."""
        ...

    async def embed_passages(
        self, passages: Sequence[Passage], on_batch: Callable[[int], None] | None = None
    ) -> list[PassageVectors]:
        """Like `embed_documents`, with a vector for each given span too: what it says where it stands."""
        ...


class HuggingFaceEmbedder:
    """An `Embedder` for a local sentence-transformers folder.

    The model loads with the first call, in a thread of its own. A query is embedded as soon as the batch at work is
    done, before the batches that wait. `name` carries the document prefix, because it changes the vectors.
    """

    def __init__(self, folder: Path, *, name: str, batch_size: int = 32, prefixes: Prefixes | None = None) -> None:
        self.prefixes = prefixes or prefixes_of(folder, name)
        self.name = f"{name} ({self.prefixes.document!r})" if self.prefixes.document else name
        self.dimension = dimension_of(folder)
        self._batch_size = batch_size
        self._model = _LazyModel(folder)
        self._worker = Worker("embedding model", limit=_MAX_WAITING)
        self._remembered: OrderedDict[str, tuple[float, ...]] = OrderedDict()
        self._embedding: dict[str, asyncio.Future[list[float]]] = {}

    async def embed_query(self, text: str) -> list[float]:
        """Return the unit vector of one question; repeated questions are remembered, those asked at once are one."""
        if text not in self._remembered:
            self._remember(text, await self._embed_once(text))
        self._remembered.move_to_end(text)
        return list(self._remembered[text])

    async def embed_documents(
        self, texts: Sequence[str], on_batch: Callable[[int], None] | None = None
    ) -> list[list[float]]:
        """Return unit vectors in the order of `texts`; texts of like length share a batch, so that padding is small."""
        return [each.vector for each in await self.embed_passages([Passage(text) for text in texts], on_batch)]

    async def embed_passages(
        self, passages: Sequence[Passage], on_batch: Callable[[int], None] | None = None
    ) -> list[PassageVectors]:
        """Return the vectors of passages and of their spans, from one pass of the model over each passage.

        A span's vector is the mean of its tokens' embeddings (late chunking: Günther et al., 2024), so that "It is
        2 km long" knows what "it" is. A span beyond the model's longest input has the vector zero.
        """
        vectors: list[PassageVectors] = [PassageVectors([], [])] * len(passages)
        by_length = sorted(range(len(passages)), key=lambda i: len(passages[i].text), reverse=True)
        for start in range(0, len(passages), self._batch_size):
            batch = by_length[start : start + self._batch_size]
            made = await self._embed_batch([passages[i].after(self.prefixes.document) for i in batch])
            for i, vector in zip(batch, made, strict=True):
                vectors[i] = vector
            if on_batch is not None:
                on_batch(len(batch))
        return vectors

    async def close(self) -> None:
        """End the thread and free the model."""
        await asyncio.to_thread(self._worker.close)

    def _remember(self, text: str, vector: Sequence[float]) -> None:
        self._remembered[text] = tuple(vector)
        if len(self._remembered) > _REMEMBERED_QUERIES:
            self._remembered.popitem(last=False)

    async def _embed_once(self, text: str) -> list[float]:
        """The vector, from the computation that runs for `text` already when there is one; who gives up ends none."""
        running = self._embedding.get(text)
        if running is None or running.get_loop() is not asyncio.get_running_loop():
            running = self._embedding[text] = self._embed_query(self.prefixes.query + text)
            running.add_done_callback(partial(self._embedded, text))
        return await asyncio.shield(running)

    def _embedded(self, text: str, done: "asyncio.Future[list[float]]") -> None:
        if self._embedding.get(text) is done:
            del self._embedding[text]
        if not done.cancelled():
            done.exception()  # seen, also when everybody who waited has given up

    def _embed_query(self, text: str) -> "asyncio.Future[list[float]]":
        return asyncio.wrap_future(self._worker.submit(lambda: self._model.embed([text])[0]))

    async def _embed_batch(self, passages: list[Passage]) -> list[PassageVectors]:
        return await self._worker.run(lambda: self._model.embed_passages(passages), background=True)


class _LazyModel:
    """The sentence-transformers model; used in the worker's thread only."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._loaded: HuggingFaceEmbedding | None = None

    def embed(self, texts: list[str]) -> list[list[float]]:
        with provider_errors(f"the embedding model in {self.folder}"):
            self._loaded = self._loaded or load(self.folder, len(texts))
            self._loaded.embed_batch_size = len(texts)
            vectors: list[list[float]] = self._loaded.get_text_embedding_batch(texts)
        return vectors

    def embed_passages(self, passages: list[Passage]) -> list[PassageVectors]:
        from condensery.models.span_vectors import passage_vectors

        if not any(passage.spans for passage in passages):
            return [PassageVectors(vector, []) for vector in self.embed([passage.text for passage in passages])]
        with provider_errors(f"the embedding model in {self.folder}"):
            self._loaded = self._loaded or load(self.folder, len(passages))
            return passage_vectors(self._loaded._model, passages)


def load(folder: Path, batch_size: int) -> "HuggingFaceEmbedding":
    """Load the model without prefixes of its own (ours are in the texts), without network and without progress bars."""
    from llama_index.embeddings.huggingface import HuggingFaceEmbedding
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    model = HuggingFaceEmbedding(str(folder), embed_batch_size=batch_size, local_files_only=True)
    model._model.prompts = {"query": "", "text": "", "document": ""}
    return model


def open_embedder(settings: Embeddings) -> HuggingFaceEmbedder:
    """Return the embedder of these settings, not loaded yet. Raises `ConfigError` for a model not on this disk."""
    folder = model_folder(settings.model)
    known = prefixes_of(folder, settings.model)
    query, document = settings.query_prefix, settings.document_prefix
    prefixes = Prefixes(known.query if query is None else query, known.document if document is None else document)
    return HuggingFaceEmbedder(folder, name=settings.model, batch_size=settings.batch_size, prefixes=prefixes)
