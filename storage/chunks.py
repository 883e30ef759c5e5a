"""Chunks and their vectors, in the table of LlamaIndex's PGVectorStore.

The table, its rows and its names are PGVectorStore's, so that any LlamaIndex code can open it. Statements are ours:
filters are bound parameters, a document's rows are replaced in one transaction, and reads skip the ORM.
"""

from collections.abc import Sequence
from typing import Any

from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.core.vector_stores.utils import node_to_metadata_dict
from llama_index.vector_stores.postgres import PGVectorStore
from pgvector.sqlalchemy import Vector
from sqlalchemy import Row, Select, Table, Text, bindparam, cast, delete, event, insert, literal, select
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.asyncio import AsyncConnection

from condensery.retrieval.types import Chunk, Scope
from condensery.storage.database import Database
from condensery.storage.reading import reading
from condensery.storage.scope import RESERVED, attributes, checked_scope, own_field, scope_clauses

SEARCH_SETTINGS = "SET hnsw.iterative_scan = strict_order; SET hnsw.ef_search = 100"
"""A filtered search goes on until it has enough, and sees more of the graph than the default 40 nodes."""


class ChunkStore:
    """Chunks with their vectors; open it with `open_chunk_store`, which creates the table."""

    def __init__(self, db: Database, vector_store: PGVectorStore) -> None:
        self.vector_store = vector_store
        self.table: Table = vector_store._table_class.__table__
        self.dimension = vector_store.embed_dim
        self._db = db
        if not event.contains(db.engine.sync_engine, "checkout", _prepare_connection):
            event.listen(db.engine.sync_engine, "checkout", _prepare_connection)

    async def nearest(self, vector: Sequence[float], scope: Scope, limit: int) -> list[tuple[Chunk, float]]:
        """Return at most `limit` chunks within `scope` by cosine similarity to `vector`, most similar first.

        The search is approximate (HNSW); one that comes back short, as a narrow scope may leave it, is repeated
        exactly. Raises ConfigError for a filter key that is no name, ProviderError when the database fails.
        """
        scope = checked_scope(scope)
        async with reading(self._db) as connection:
            rows = (await connection.execute(self._nearest(vector, scope, limit))).all()
            if len(rows) < limit:
                rows = (await connection.execute(self._nearest(vector, scope, limit, exact=True))).all()
        return [(_chunk(row), 1.0 - row.distance) for row in rows]

    async def all(self) -> list[Chunk]:
        """Return every chunk, by document and position."""
        query = self._chunks().order_by(own_field(self.table.c.metadata_, "ref_doc_id"), self.table.c.id)
        chunks: list[Chunk] = []
        async with self._db.transaction() as connection:
            # In pages, so that the event loop gets its turn in between.
            async for rows in (await connection.stream(query)).partitions(250):
                chunks += map(_chunk, rows)
        return chunks

    async def put(
        self, connection: AsyncConnection, document: str, chunks: Sequence[Chunk], vectors: Sequence[Sequence[float]]
    ) -> None:
        """Within the caller's transaction, add the `chunks` of the document of that id with their vectors."""
        rows = [self._row(document, chunk, vector) for chunk, vector in zip(chunks, vectors, strict=True)]
        if rows:
            await connection.execute(insert(self.table), rows)

    async def remove(self, connection: AsyncConnection, document: str) -> None:
        """Within the caller's transaction, delete every chunk of the document of that id."""
        of_document = own_field(self.table.c.metadata_, "ref_doc_id") == document
        await connection.execute(delete(self.table).where(of_document))

    def _chunks(self) -> Select[Any]:
        # LlamaIndex keeps a second copy of everything in _node_content; it need not travel.
        values = cast(self.table.c.metadata_, JSONB).op("-", return_type=JSONB)(literal("_node_content", Text))
        return select(self.table.c.node_id, self.table.c.text, values.label("attributes"))

    def _nearest(self, vector: Sequence[float], scope: Scope, limit: int, *, exact: bool = False) -> Select[Any]:
        text = "[" + ",".join(map(repr, map(float, vector))) + "]"
        target = cast(bindparam("vector", text, type_=Text), Vector(self.dimension))
        distance = self.table.c.embedding.cosine_distance(target)
        # HNSW serves the bare distance only.
        order = distance + 0.0 if exact else distance
        query = self._chunks().add_columns(distance.label("distance"))
        return query.where(*scope_clauses(self.table.c.metadata_, scope)).order_by(order).limit(limit)

    def _row(self, document: str, chunk: Chunk, vector: Sequence[float]) -> dict[str, Any]:
        belongs: dict[NodeRelationship, Any] = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id=document)}
        node = TextNode(id_=chunk.id, text=chunk.text, metadata=attributes(chunk), relationships=belongs)
        metadata = node_to_metadata_dict(node, remove_text=True, flat_metadata=False)
        return {"node_id": chunk.id, "text": chunk.text, "metadata_": metadata, "embedding": list(vector)}


def _chunk(row: Row[Any]) -> Chunk:
    values = row.attributes
    own = {name: value for name, value in values.items() if name not in RESERVED and not name.startswith("_")}
    return Chunk(
        id=row.node_id,
        text=row.text,
        source=values["source"],
        title=values["title"],
        heading=values["heading"],
        namespace=values["namespace"],
        page=values["page"],
        start=values["start"],
        end=values["end"],
        metadata=own,
    )


def _prepare_connection(connection: Any, record: Any, proxy: Any) -> None:
    """Set each connection up once, outside of any transaction, so that a rollback does not undo it."""
    if not record.info.get("condensery_search"):
        connection.run_async(lambda raw: raw.execute(SEARCH_SETTINGS))
        record.info["condensery_search"] = True
