"""The retrieval methods, as a visible table."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from condensery.errors import UnknownName
from condensery.models.embedding import Embedder
from condensery.retrieval.arms import Single
from condensery.retrieval.bm25 import Bm25, Bm25Cache
from condensery.retrieval.hybrid import Hybrid
from condensery.retrieval.semantic import Semantic
from condensery.retrieval.types import Retriever
from condensery.settings import Retrieval
from condensery.storage.chunks import ChunkStore
from condensery.storage.documents import DocumentRepository


@dataclass(frozen=True)
class RetrievalParts:
    """What retrieval methods are made of; build it once per process, since it holds the BM25 index."""

    settings: Retrieval
    embedder: Embedder
    chunks: ChunkStore
    documents: DocumentRepository
    bm25: Bm25Cache = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "bm25", Bm25Cache(self.documents))

    def with_settings(self, settings: Retrieval) -> "RetrievalParts":
        """The same parts, and the same BM25 index, under other settings."""
        parts = replace(self, settings=settings)
        object.__setattr__(parts, "bm25", self.bm25)
        return parts

    async def warm(self) -> None:
        """Build the BM25 index before the first search needs it. Raises ProviderError when the database fails."""
        await self.bm25.current()


def _semantic(parts: RetrievalParts) -> Retriever:
    return Single(Semantic(parts.embedder, parts.chunks, parts.settings.min_similarity))


def _bm25(parts: RetrievalParts) -> Retriever:
    return Single(Bm25(parts.bm25))


def _hybrid(parts: RetrievalParts) -> Retriever:
    settings = parts.settings
    weights = {"semantic": settings.semantic_weight, "bm25": settings.bm25_weight}
    # A sum of scores wants the cosine of what BM25 found, too, however low; the fusion drops what has nothing else.
    least = -1.0 if settings.fusion == "score" else settings.min_similarity
    return Hybrid([Semantic(parts.embedder, parts.chunks, least), Bm25(parts.bm25)], weights, settings)


METHODS: dict[str, Callable[[RetrievalParts], Retriever]] = {
    "semantic": _semantic,
    "bm25": _bm25,
    "hybrid": _hybrid,
}


def open_retriever(name: str, parts: RetrievalParts) -> Retriever:
    """Return the method of that name; raises UnknownName, which lists the choices."""
    if name not in METHODS:
        raise UnknownName("retrieval method", name, list(METHODS))
    return METHODS[name](parts)
