"""A BM25 index over chunks, as an immutable snapshot of one state of the database."""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Protocol

import bm25s
import numpy as np
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.retrievers.bm25 import BM25Retriever
from numpy.typing import NDArray

from condensery.retrieval.chunking import enriched
from condensery.retrieval.tokenize import terms
from condensery.retrieval.types import Chunk, Probe, Scope
from condensery.storage.scope import attributes, in_scope


class TermWeights(Protocol):
    """How much each term of a question says, judged by how rare it is in the documents."""

    def idf(self, term: str) -> float:
        """Return the inverse document frequency of a term of `tokenize.terms`: positive, highest for unknown terms."""
        ...


class Bm25Index:
    """BM25 (Lucene's variant) over title, heading and text of `chunks`. Building blocks; searching takes under 1 ms.

    It holds no state of a query, so any number of searches may share it.
    """

    def __init__(self, chunks: Sequence[Chunk], generation: int = 0, previous: "Bm25Index | None" = None) -> None:
        """Index `chunks`; the terms of those that `previous` holds too are taken from there, for speed."""
        self.generation = generation
        self.chunks = tuple(chunks)
        known = previous._terms if previous else {}
        self._terms: dict[str, list[str]] = {
            chunk.id: known.get(chunk.id) or terms(enriched(chunk)) for chunk in chunks
        }
        # bm25s cannot index a corpus without a single term.
        self.bm25 = _build([self._terms[chunk.id] for chunk in chunks]) if any(self._terms.values()) else None
        self._vocabulary: dict[str, int] = self.bm25.vocab_dict if self.bm25 else {}
        self._by_id = {chunk.id: chunk for chunk in self.chunks}
        self._mask = lru_cache(maxsize=32)(self._compute_mask)

    def rank(self, probes: Sequence[Probe], scope: Scope, limit: int) -> list[tuple[Chunk, float]]:
        """Return at most `limit` chunks within `scope` that share a term with `probes`, best first, ties by place.

        A score is the weighed sum of the probes' BM25 scores, in units of the highest idf the index knows, so that it
        means the same for a small and a large number of documents: 1 is about one rare term, matched.
        """
        scores = self._scores(probes)
        found = scores > 0
        if scope.namespaces or scope.filters:
            found &= self._mask(scope.namespaces, tuple(sorted(scope.filters.items())))
        hits = np.flatnonzero(found)
        best = hits[np.lexsort((hits, -scores[hits]))][:limit]
        return [(self.chunks[i], float(scores[i])) for i in best]

    def _scores(self, probes: Sequence[Probe]) -> NDArray[np.float32]:
        total = np.zeros(len(self.chunks), dtype=np.float32)
        for probe in probes:
            known = [term for term in terms(probe.text) if term in self._vocabulary]
            if known and probe.lexical > 0 and self.bm25 is not None:
                total += probe.lexical * self.bm25.get_scores(known)
        return total / np.float32(_idf(0, len(self.chunks)))

    def idf(self, term: str) -> float:
        """Return Lucene's inverse document frequency of a term as `tokenize.terms` gives it."""
        found = 0
        if self.bm25 is not None and term in self._vocabulary:
            column = self._vocabulary[term]
            pointers = self.bm25.scores["indptr"]
            found = int(pointers[column + 1] - pointers[column])
        return _idf(found, len(self.chunks))

    def search(self, probes: Sequence[Probe], scope: Scope, limit: int) -> list[tuple[Chunk, float]]:
        """Do what `rank` does as a LlamaIndex retrieval, so that LlamaIndex's instrumentation sees it."""
        if self.bm25 is None:
            return []
        nodes = ScopedBm25Retriever(self, probes, scope, limit).retrieve(" ".join(probe.text for probe in probes))
        return [(self._by_id[found.node_id], found.score or 0.0) for found in nodes]

    def _compute_mask(self, namespaces: tuple[str, ...], filters: tuple[tuple[str, str], ...]) -> NDArray[np.bool_]:
        scope = Scope(namespaces=namespaces, filters=dict(filters))
        return np.fromiter((in_scope(chunk, scope) for chunk in self.chunks), bool, len(self.chunks))


def _idf(found: int, of: int) -> float:
    return math.log(1 + (of - found + 0.5) / (found + 0.5))


def _build(corpus: list[list[str]]) -> Any:
    index = bm25s.BM25(method="lucene", backend="numpy")
    index.index(corpus, show_progress=False)
    return index


class ScopedBm25Retriever(BM25Retriever):
    """LlamaIndex's BM25Retriever for one search: with our terms and weights, within a scope, only hits that score.

    The index must hold at least one term. The query it is given is for LlamaIndex's traces; it searches with `probes`.
    """

    def __init__(self, index: Bm25Index, probes: Sequence[Probe], scope: Scope, limit: int) -> None:
        super().__init__(existing_bm25=index.bm25, similarity_top_k=min(limit, len(index.chunks)))
        self._index, self._probes, self._scope, self._limit = index, probes, scope, limit

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = self._index.rank(self._probes, self._scope, self._limit)
        return [
            NodeWithScore(node=TextNode(id_=chunk.id, text=chunk.text, metadata=attributes(chunk)), score=score)
            for chunk, score in found
        ]
