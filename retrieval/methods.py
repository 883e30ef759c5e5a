"""The retrieval methods, as a visible table."""

from collections.abc import Callable
from dataclasses import dataclass, field

from condensery.errors import UnknownName
from condensery.models.embedding import Embedder
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

    def idf(self, term: str) -> float:
        """How rare a term of `tokenize.terms` is in the documents: positive; as of the last lexical search."""
        return self.bm25.latest().idf(term)


def _semantic(parts: RetrievalParts) -> Retriever:
    return Semantic(parts.embedder, parts.chunks, parts.settings.min_similarity)


def _bm25(parts: RetrievalParts) -> Retriever:
    return Bm25(parts.bm25)


def _hybrid(parts: RetrievalParts) -> Retriever:
    weights = {"semantic": parts.settings.semantic_weight, "bm25": parts.settings.bm25_weight}
    return Hybrid({"semantic": _semantic(parts), "bm25": _bm25(parts)}, weights, parts.settings)


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
