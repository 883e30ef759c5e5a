"""The sentences of chunks with their vectors: what an answer without a model is quoted from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sqlalchemy import delete, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from condensery.storage.database import Database
from condensery.storage.reading import reading
from condensery.storage.schema import sentences

Span = tuple[int, int]


@dataclass(frozen=True)
class SentenceVectors:
    """`spans` are character offsets into the chunk's text; row i of `vectors` (unit length or zero) is span i's."""

    spans: tuple[Span, ...]
    vectors: npt.NDArray[np.float32]


class SentenceStore:
    """Sentence vectors by chunk, kept as half-precision floats."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def put(self, connection: AsyncConnection, document: str, found: Mapping[str, SentenceVectors]) -> None:
        """Within the caller's transaction, add the sentences of the document's chunks, by chunk id."""
        rows = [
            {
                "chunk_id": chunk_id,
                "document_id": document,
                "spans": [offset for span in each.spans for offset in span],
                "vectors": each.vectors.astype(np.float16).tobytes(),
            }
            for chunk_id, each in found.items()
            if each.spans
        ]
        if rows:
            await connection.execute(insert(sentences), rows)

    async def remove(self, connection: AsyncConnection, document: str) -> None:
        """Within the caller's transaction, delete the sentences of a document."""
        await connection.execute(delete(sentences).where(sentences.c.document_id == document))

    async def of(self, chunk_ids: Sequence[str]) -> dict[str, SentenceVectors]:
        """The sentences of these chunks, by chunk id; a chunk without any is left out. Raises `ProviderError`."""
        query = select(sentences.c.chunk_id, sentences.c.spans, sentences.c.vectors)
        async with reading(self._db) as connection:
            rows = await connection.execute(query.where(sentences.c.chunk_id.in_(chunk_ids)))
            return {row.chunk_id: _vectors(row.spans, row.vectors) for row in rows}


def _vectors(offsets: Sequence[int], data: bytes) -> SentenceVectors:
    spans = tuple(zip(offsets[::2], offsets[1::2], strict=True))
    matrix = np.frombuffer(data, dtype=np.float16).astype(np.float32).reshape(len(spans), -1)
    return SentenceVectors(spans=spans, vectors=matrix)
