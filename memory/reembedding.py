"""Embedding everything that is remembered anew, after a change of the embedding model."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import func, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from condensery.models.embedding import Embedder
from condensery.storage.database import Database
from condensery.storage.memories import ADVISORY_LOCK, TABLE, MemoryTable, memories

BATCH = 500

_INSERT = text(f"INSERT INTO {TABLE} VALUES (:id, CAST(:vector AS vector), CAST(:payload AS jsonb))")  # noqa: S608


async def reembed(db: Database, embedder: Embedder, on_batch: Callable[[int], None] | None = None) -> int:
    """Embed every fact with `embedder` and return how many there are; `on_batch` gets the size of each batch.

    All or nothing. The facts can be read until they are replaced, which takes moments. A program that runs with the
    former model is told to start anew as soon as it recalls or stores something.
    """
    async with db.transaction() as connection:
        there = (await connection.execute(select(func.to_regclass(TABLE)))).scalar_one() is not None
        known = await _embedded(embedder, await _payloads(connection) if there else [], on_batch)
    async with db.transaction() as connection:
        await connection.execute(select(func.pg_advisory_xact_lock(ADVISORY_LOCK)))
        rows: Sequence[Any] = []
        if there:
            await connection.execute(text(f"LOCK TABLE {TABLE}"))
            rows = await _payloads(connection)
            known |= await _embedded(embedder, [row for row in rows if row[0] not in known], on_batch)
            await connection.execute(text(f"DROP TABLE {TABLE}"))
        await MemoryTable(db, model=embedder.name, dimension=embedder.dimension).create(connection)
        for start in range(0, len(rows), BATCH):
            await connection.execute(_INSERT, [_row(row, known) for row in rows[start : start + BATCH]])
    return len(rows)


async def _payloads(connection: AsyncConnection) -> Sequence[Any]:
    return (await connection.execute(select(memories.c.id, memories.c.payload))).all()


async def _embedded(
    embedder: Embedder, rows: Sequence[Any], on_batch: Callable[[int], None] | None
) -> dict[Any, list[float]]:
    vectors = await embedder.embed_documents([row.payload["data"] for row in rows], on_batch)
    return dict(zip([row.id for row in rows], vectors, strict=True))


def _row(row: Any, vectors: dict[Any, list[float]]) -> dict[str, Any]:
    return {"id": row.id, "vector": str(vectors[row.id]), "payload": json.dumps(row.payload)}
