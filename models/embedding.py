"""Texts to vectors: a small protocol and its implementation on sentence-transformers, off the event loop."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from condensery.errors import ProviderError
from condensery.models.embedding_folder import Prefixes, dimension_of, model_folder, prefixes_of
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

    async def embed_query(self, text: str) -> list[float]:
        """Return the unit vector of one question; repeated questions are remembered."""
        if text not in self._remembered:
            prefixed = [self.prefixes.query + text]
            self._remember(text, (await self._embed(prefixed, background=False))[0])
        self._remembered.move_to_end(text)
        return list(self._remembered[text])

    async def embed_documents(
        self, texts: Sequence[str], on_batch: Callable[[int], None] | None = None
    ) -> list[list[float]]:
        """Return unit vectors in the order of `texts`; texts of like length share a batch, so that padding is small."""
        vectors: list[list[float]] = [[]] * len(texts)
        by_length = sorted(range(len(texts)), key=lambda i: len(texts[i]), reverse=True)
        for start in range(0, len(texts), self._batch_size):
            batch = by_length[start : start + self._batch_size]
            made = await self._embed([self.prefixes.document + texts[i] for i in batch], background=True)
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

    async def _embed(self, texts: list[str], *, background: bool) -> list[list[float]]:
        return await self._worker.run(lambda: self._model.embed(texts), background=background)


class _LazyModel:
    """The sentence-transformers model; used in the worker's thread only."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._loaded: HuggingFaceEmbedding | None = None

    def embed(self, texts: list[str]) -> list[list[float]]:
        try:
            self._loaded = self._loaded or load(self.folder, len(texts))
            self._loaded.embed_batch_size = len(texts)
            vectors: list[list[float]] = self._loaded.get_text_embedding_batch(texts)
        except Exception as error:
            raise ProviderError(f"the embedding model in {self.folder} failed ({type(error).__name__})") from error
        return vectors


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
    prefixes = Prefixes(settings.query_prefix or known.query, settings.document_prefix or known.document)
    return HuggingFaceEmbedder(folder, name=settings.model, batch_size=settings.batch_size, prefixes=prefixes)
