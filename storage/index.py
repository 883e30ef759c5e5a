"""The search index as a whole: which embedding model it belongs to, its creation, its generation, its end."""

from llama_index.vector_stores.postgres import PGVectorStore
from sqlalchemy import Index, Row, Table, func, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from condensery.errors import ConfigError
from condensery.storage.chunks import ChunkStore
from condensery.storage.database import Database
from condensery.storage.schema import documents, index_state, sentences
from condensery.storage.scope import INDEXED

TABLE = "chunks"
PGVECTOR = (0, 8)
ADVISORY_LOCK = 0x63686E6B  # "chnk"; whoever creates or drops the index waits for it


async def open_chunk_store(db: Database, *, model: str, dimension: int) -> ChunkStore:
    """Open the chunks embedded by `model`, creating their table when there is none.

    An index without documents adopts the model. Raises ConfigError when it holds documents of another model.
    """
    async with db.transaction() as connection:
        await connection.execute(select(func.pg_advisory_xact_lock(ADVISORY_LOCK)))
        await _check_pgvector(connection)
        schema = (await connection.execute(select(func.current_schema()))).scalar_one()
        store = _vector_store(db, schema, dimension)
        await _adopt(connection, store, model)
    return ChunkStore(db, store)


async def drop_index(db: Database) -> None:
    """Delete every document and chunk, so that another embedding model may start afresh."""
    async with db.transaction() as connection:
        await connection.execute(select(func.pg_advisory_xact_lock(ADVISORY_LOCK)))
        await connection.execute(text(f"DROP TABLE IF EXISTS data_{TABLE}"))
        await connection.execute(documents.delete())
        await connection.execute(sentences.delete())
        await connection.execute(update(index_state).values(embedding_model=None, dimension=None))
        await raise_generation(connection)


async def raise_generation(connection: AsyncConnection) -> None:
    """Within the caller's transaction, tell every reader that the index has changed. Do it last: it locks one row."""
    await connection.execute(update(index_state).values(generation=index_state.c.generation + 1))


async def _check_pgvector(connection: AsyncConnection) -> None:
    query = text("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
    version = str((await connection.execute(query)).scalar_one())
    if tuple(map(int, version.split(".")[:2])) < PGVECTOR:
        raise ConfigError(
            f"the database has pgvector {version}, and filtered searches need {'.'.join(map(str, PGVECTOR))} or newer; "
            "install it on the server and run ALTER EXTENSION vector UPDATE"
        )


def _vector_store(db: Database, schema: str, dimension: int) -> PGVectorStore:
    """PGVectorStore asks for two engines; both are ours, so that there is one pool. Ours creates the table."""
    store = PGVectorStore(
        async_connection_string=db.url.render_as_string(),
        table_name=TABLE,
        schema_name=schema,
        embed_dim=dimension,
        use_jsonb=True,
        perform_setup=False,
        engine=db.engine.sync_engine,
        async_engine=db.engine,
        indexed_metadata_keys={(name, "text") for name in INDEXED},
    )
    table: Table = store._table_class.__table__
    operators = {"embedding": "vector_cosine_ops"}
    sizes = {"m": 16, "ef_construction": 64}
    Index(f"{table.name}_embedding_idx", table.c.embedding, postgresql_using="hnsw", postgresql_with=sizes,
          postgresql_ops=operators)  # fmt: skip
    return store


async def _adopt(connection: AsyncConnection, store: PGVectorStore, model: str) -> None:
    state = (await connection.execute(select(index_state))).one()
    table: Table = store._table_class.__table__
    if (state.embedding_model, state.dimension) != (model, store.embed_dim):
        if state.embedding_model is not None and await _has_documents(connection):
            raise _mismatch(state, model, store.embed_dim)
        await connection.run_sync(lambda sync: table.drop(sync, checkfirst=True))
        await connection.execute(update(index_state).values(embedding_model=model, dimension=store.embed_dim))
    await connection.run_sync(lambda sync: table.create(sync, checkfirst=True))


async def _has_documents(connection: AsyncConnection) -> bool:
    return bool((await connection.execute(select(select(documents.c.id).exists()))).scalar_one())


def _mismatch(state: Row[tuple[bool, int, str, int]], model: str, dimension: int) -> ConfigError:
    return ConfigError(
        f"the documents were embedded with '{state.embedding_model}' ({state.dimension} dimensions), but "
        f"embeddings.model is '{model}' ({dimension} dimensions); set embeddings.model back, or embed every "
        "document anew with `condensery ingest --rebuild PATH…`"
    )
