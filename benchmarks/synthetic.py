"""Fills a search index with synthetic chunks in seconds, without an embedding model, for benchmarks at size."""

import random
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import text

from condensery.retrieval.types import Chunk
from condensery.storage.chunks import ChunkStore
from condensery.storage.database import Database
from condensery.storage.documents import DocumentRecord, DocumentRepository

VOCABULARY = 20_000
CHUNK_WORDS = 130
CHUNKS_PER_DOCUMENT = 50
_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]


class SyntheticText:
    """Words of a made-up language whose frequencies follow Zipf's law, as those of every natural one do."""

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)  # noqa: S311
        words = dict.fromkeys("".join(self._random.choices(_SYLLABLES, k=2 + i % 3)) for i in range(VOCABULARY * 2))
        self.words = list(words)[:VOCABULARY]
        self._weights = np.cumsum(1 / np.arange(1, len(self.words) + 1)).tolist()

    def passage(self, words: int = CHUNK_WORDS) -> str:
        """Return sentences of about twelve words, `words` words in all."""
        drawn = self._random.choices(self.words, cum_weights=self._weights, k=words)
        sentences = (" ".join(drawn[i : i + 12]).capitalize() for i in range(0, words, 12))
        return ". ".join(sentences) + "."

    def question(self, words: int = 8) -> str:
        """Return a question as people ask them: half common words, half that say something."""
        common = self._random.choices(self.words, cum_weights=self._weights, k=words // 2)
        return " ".join([*common, *self._random.choices(self.words[:5000], k=words - words // 2)]).capitalize() + "?"


async def fill(
    db: Database,
    chunks: ChunkStore,
    documents: DocumentRepository,
    *,
    count: int = 10_000,
    seed: int = 0,
    namespace: str = "default",
    near: Sequence[Sequence[float]] = (),
) -> None:
    """Add `count` chunks to the index, in documents of fifty; 10,000 take some seconds.

    Their vectors are random unit vectors; given the vectors of some questions as `near`, they lie around those with
    cosines from 0 to 0.8, so that searches with real questions have something to find.
    """
    texts = SyntheticText(seed)
    vectors = _vectors(count, chunks.dimension, near, seed)
    index = next(index for index in chunks.table.indexes if str(index.name).endswith("_embedding_idx"))
    async with db.transaction() as connection:
        # Building the vector index over all rows is many times faster than adding to it row by row.
        await connection.run_sync(lambda sync: index.drop(sync, checkfirst=True))
        for start in range(0, count, CHUNKS_PER_DOCUMENT):
            passages = [texts.passage() for _ in range(min(CHUNKS_PER_DOCUMENT, count - start))]
            record, rows = _document(f"synthetic-{seed}-{start:07}.txt", namespace, passages)
            await documents.replace_in(connection, record, rows, vectors[start : start + len(rows)].tolist())
        await connection.run_sync(lambda sync: index.create(sync, checkfirst=True))
    async with db.engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
        await connection.execute(text(f"VACUUM ANALYZE {chunks.table.fullname}"))


def _document(source: str, namespace: str, passages: Sequence[str]) -> tuple[DocumentRecord, list[Chunk]]:
    title = source.removesuffix(".txt")
    starts = np.cumsum([0, *(len(passage) + 2 for passage in passages)]).tolist()
    rows = [
        Chunk(
            id=f"{title}-{number}",
            text=passage,
            source=source,
            title=title,
            namespace=namespace,
            start=start,
            end=start + len(passage),
            metadata={"format": "text"},
        )
        for number, (passage, start) in enumerate(zip(passages, starts, strict=False))
    ]
    record = DocumentRecord(
        source=source, namespace=namespace, content_hash="synthetic", title=title, chars=starts[-1], chunks=len(rows)
    )
    return record, rows


def _vectors(count: int, dimension: int, near: Sequence[Sequence[float]], seed: int) -> NDArray[np.float64]:
    generator = np.random.default_rng(seed)
    vectors = _unit(generator.standard_normal((count, dimension)))
    if near:
        closeness = generator.uniform(0, 0.8, (count, 1))
        centres = _unit(np.asarray(near, dtype=float))[generator.integers(0, len(near), count)]
        vectors = _unit(closeness * centres + np.sqrt(1 - closeness**2) * vectors)
    return vectors.round(5)


def _unit(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / lengths, dtype=np.float64)
