"""Search latency over a synthetic index, without the time to embed the question.

    python benchmarks/retrieval_at_size.py --chunks 10000 --queries 300

Starts an embedded Postgres in a temporary directory and prints p50 and p95 in milliseconds per method and scope.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Sequence

import numpy as np

from condensery.benchmarks.synthetic import SyntheticText, fill
from condensery.retrieval.methods import METHODS, RetrievalParts, open_retriever
from condensery.retrieval.types import Retriever, Scope, SearchQuery
from condensery.settings import Settings
from condensery.storage.database import open_database
from condensery.storage.documents import DocumentRepository
from condensery.storage.index import open_chunk_store
from condensery.testing import RecordingEmbedder

SCOPES = {
    "everything": Scope(),
    "one namespace": Scope(namespaces=("default",)),
    "one document": Scope(filters={"source": "synthetic-0-0000050.txt"}),
}


class KnownVectors(RecordingEmbedder):
    """An embedder that takes no time: it hands out vectors near which the synthetic chunks lie."""

    def __init__(self) -> None:
        super().__init__(name="synthetic")
        self.vectors: list[list[float]] = np.random.default_rng(1).standard_normal((32, self.dimension)).tolist()

    async def embed_query(self, text: str) -> list[float]:
        """Return one of the vectors."""
        return self.vectors[len(text) % len(self.vectors)]


async def measure(retriever: Retriever, scope: Scope, questions: Sequence[str], limit: int) -> list[float]:
    """Return the milliseconds of each search."""
    times = []
    for question in questions:
        start = time.perf_counter()
        await retriever.search(SearchQuery(text=question), scope=scope, limit=limit)
        times.append((time.perf_counter() - start) * 1000)
    return times


async def main(chunks: int, queries: int) -> None:
    """Fill, warm up, measure, print."""
    embedder, texts = KnownVectors(), SyntheticText()
    with tempfile.TemporaryDirectory(prefix="cnd-", ignore_cleanup_errors=True) as folder:
        settings = Settings.model_validate({"data_dir": folder})
        async with open_database(settings) as database:
            store = await open_chunk_store(database, model=embedder.name, dimension=embedder.dimension)
            documents = DocumentRepository(database, store)
            start = time.perf_counter()
            await fill(database, store, documents, count=chunks, near=embedder.vectors)
            filled = time.perf_counter()
            parts = RetrievalParts(settings.retrieval, embedder, store, documents)
            await parts.warm()
            print(f"filled in {filled - start:.1f} s, BM25 built in {time.perf_counter() - filled:.1f} s")
            questions = [texts.question() for _ in range(queries)]
            for method in METHODS:
                retriever = open_retriever(method, parts)
                for name, scope in SCOPES.items():
                    await measure(retriever, scope, questions[:30], settings.retrieval.top_k)
                    times = await measure(retriever, scope, questions, settings.retrieval.top_k)
                    p95 = statistics.quantiles(times, n=20)[-1]
                    print(f"{method:9} {name:14} p50 {statistics.median(times):5.1f} ms   p95 {p95:5.1f} ms")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--queries", type=int, default=300)
    asyncio.run(main(**vars(parser.parse_args())))
