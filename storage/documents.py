"""Documents: what was ingested, replaced as a whole or not at all."""

import builtins
import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from pydantic import Field
from sqlalchemy import Row, delete, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from condensery.retrieval.types import Chunk, Frozen
from condensery.storage.chunks import ChunkStore
from condensery.storage.database import Database
from condensery.storage.index import raise_generation
from condensery.storage.reading import reading
from condensery.storage.schema import documents, index_state
from condensery.storage.sentences import SentenceStore, SentenceVectors
from condensery.storage.text import clean_text


class DocumentRecord(Frozen):
    """One ingested document. `content_hash` covers its bytes and everything that decides what chunks they give."""

    source: str
    namespace: str
    content_hash: str
    title: str = ""
    chars: int = Field(0, description="Length of the extracted text.")
    chunks: int = 0
    metadata: dict[str, str] = Field(default_factory=dict)
    ingested_at: datetime = Field(default_factory=lambda: datetime.now(UTC))


class DocumentRepository:
    """Documents and, through `chunks`, their passages. Every method raises ProviderError when the database fails."""

    def __init__(self, db: Database, chunks: ChunkStore) -> None:
        self._db = db
        self._chunks = chunks
        self.sentences = SentenceStore(db)

    async def replace(
        self,
        document: DocumentRecord,
        chunks: Sequence[Chunk],
        vectors: Sequence[Sequence[float]],
        sentences: Sequence[SentenceVectors] = (),
    ) -> None:
        """Put `document` with its chunks in the place of an earlier one of that source, in one transaction.

        `sentences`, when given, has one entry per chunk.
        """
        async with self._db.transaction() as connection:
            await self.replace_in(connection, document, chunks, vectors, sentences)

    async def replace_in(
        self,
        connection: AsyncConnection,
        document: DocumentRecord,
        chunks: Sequence[Chunk],
        vectors: Sequence[Sequence[float]],
        sentences: Sequence[SentenceVectors] = (),
    ) -> None:
        """Do what `replace` does, within the caller's transaction."""
        key = _key(document.source, document.namespace)
        values = document.model_dump() | {"id": key}
        await _lock(connection, key)
        await self._remove_passages(connection, key)
        await self._chunks.put(connection, key, chunks, vectors)
        by_chunk = zip((chunk.id for chunk in chunks), sentences, strict=True) if sentences else ()
        await self.sentences.put(connection, key, dict(by_chunk))
        statement = insert(documents).values(values)
        await connection.execute(statement.on_conflict_do_update(index_elements=["id"], set_=values))
        await raise_generation(connection)

    async def remove(self, source: str, namespace: str) -> bool:
        """Delete a document with its chunks; False when there is none of that source."""
        key = _key(source, namespace)
        async with self._db.transaction() as connection:
            await _lock(connection, key)
            await self._remove_passages(connection, key)
            gone = await connection.execute(delete(documents).where(documents.c.id == key))
            await raise_generation(connection)
        return gone.rowcount > 0

    async def hashes(self, namespace: str) -> Mapping[str, str]:
        """Return the content hashes of a namespace by source."""
        query = select(documents.c.source, documents.c.content_hash).where(
            documents.c.namespace == clean_text(namespace)
        )
        return {row.source: row.content_hash for row in await self._read(query)}

    async def generation(self) -> int:
        """Return a number that grows with every change of the index."""
        return int((await self._read(select(index_state.c.generation)))[0].generation)

    async def count(self) -> int:
        """Return the number of documents."""
        return int((await self._read(select(func.count().label("n")).select_from(documents)))[0].n)

    async def all_chunks(self) -> builtins.list[Chunk]:
        """Return every chunk, by document and position."""
        return await self._chunks.all()

    async def list(self, namespace: str | None = None) -> builtins.list[DocumentRecord]:
        """Return the documents, of one namespace or all, by namespace and source."""
        query = select(documents).order_by(documents.c.namespace, documents.c.source)
        if namespace is not None:
            query = query.where(documents.c.namespace == clean_text(namespace))
        return [_record(row) for row in await self._read(query)]

    async def _remove_passages(self, connection: AsyncConnection, key: str) -> None:
        await self._chunks.remove(connection, key)
        await self.sentences.remove(connection, key)

    async def _read(self, query: Any) -> Sequence[Row[Any]]:
        async with reading(self._db) as connection:
            return (await connection.execute(query)).all()


def _key(source: str, namespace: str) -> str:
    return hashlib.sha256(f"{clean_text(namespace)}\0{clean_text(source)}".encode()).hexdigest()[:32]


async def _lock(connection: AsyncConnection, key: str) -> None:
    """Two ingestions of one document take turns; without it each would keep the other's new rows."""
    await connection.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(key, 0))))


def _record(row: Row[Any]) -> DocumentRecord:
    return DocumentRecord(**{name: value for name, value in row._mapping.items() if name != "id"})
