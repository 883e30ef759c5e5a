"""The index in Postgres: one table of LlamaIndex's, one transaction per document, one embedding model."""

import asyncio
import math
from collections.abc import Sequence

import pytest
from llama_index.core.schema import MetadataMode
from llama_index.core.vector_stores.types import VectorStoreQuery
from sqlalchemy import text

from condensery.errors import ConfigError, ProviderError
from condensery.models.embedding import open_embedder
from condensery.retrieval.types import Chunk, Scope
from condensery.settings import Embeddings
from condensery.storage.chunks import ChunkStore
from condensery.storage.database import Database
from condensery.storage.documents import DocumentRecord, DocumentRepository
from condensery.storage.index import drop_index, open_chunk_store
from condensery.storage.scope import in_scope

SIZE = 8


def vector(direction: int) -> list[float]:
    """A unit vector close to the axis of that number."""
    raw = [0.1] * SIZE
    raw[direction % SIZE] = 1.0
    length = math.sqrt(sum(value * value for value in raw))
    return [value / length for value in raw]


def chunk(number: int, source: str = "a.md", **fields: object) -> Chunk:
    text = f"Passage {number} of {source}."
    return Chunk.model_validate({"id": f"{source}-{number}", "text": text, "source": source, "start": number, **fields})


async def opened(database: Database, model: str = "model-a", size: int = SIZE) -> tuple[ChunkStore, DocumentRepository]:
    store = await open_chunk_store(database, model=model, dimension=size)
    return store, DocumentRepository(database, store)


async def put(documents: DocumentRepository, source: str, chunks: Sequence[Chunk], namespace: str = "default") -> None:
    record = DocumentRecord(
        source=source, namespace=namespace, content_hash=f"hash of {len(chunks)}", chunks=len(chunks)
    )
    await documents.replace(record, chunks, [vector(number) for number, _ in enumerate(chunks)])


async def ids(documents: DocumentRepository) -> list[str]:
    return [chunk.id for chunk in await documents.all_chunks()]


async def test_a_document_comes_back_as_it_was_put(database: Database) -> None:
    store, documents = await opened(database)
    whole = chunk(
        1, title="T", heading="H", namespace="hr", page=3, end=9, metadata={"author": "A. Clerk", "tag": "ü'\""}
    )
    await put(documents, "a.md", [whole], "hr")
    assert await documents.all_chunks() == [whole]
    ((found, cosine),) = await store.nearest(vector(0), Scope(), 1)
    assert found == whole
    assert cosine == pytest.approx(1.0)
    (record,) = await documents.list()
    assert (record.source, record.namespace, record.chunks) == ("a.md", "hr", 1)
    assert await documents.hashes("hr") == {"a.md": "hash of 1"}
    assert await documents.hashes("default") == {}


async def test_replacing_removes_every_old_row_and_raises_the_generation(database: Database) -> None:
    _, documents = await opened(database)
    await put(documents, "a.md", [chunk(number) for number in range(5)])
    await put(documents, "b.md", [chunk(0, "b.md")])
    before = await documents.generation()
    await put(documents, "a.md", [chunk(9)])
    assert sorted(await ids(documents)) == ["a.md-9", "b.md-0"]
    assert await documents.generation() == before + 1
    assert await documents.count() == 2


async def test_a_failed_replacement_changes_nothing(database: Database) -> None:
    store, documents = await opened(database)
    await put(documents, "a.md", [chunk(1)])
    before = await documents.generation()
    record = DocumentRecord(source="a.md", namespace="default", content_hash="new")
    with pytest.raises(ProviderError):
        await documents.replace(record, [chunk(2), chunk(3)], [vector(0), [1.0]])
    with pytest.raises(ValueError, match="shorter"):
        await documents.replace(record, [chunk(2), chunk(3)], [vector(0)])
    assert await ids(documents) == ["a.md-1"]
    assert await documents.hashes("default") == {"a.md": "hash of 1"}
    assert await documents.generation() == before
    assert [found.id for found, _ in await store.nearest(vector(0), Scope(), 5)] == ["a.md-1"]


async def test_replacements_of_one_document_at_once_leave_one_of_them(database: Database) -> None:
    _, documents = await opened(database)
    before = await documents.generation()
    versions = [[chunk(10 * version + number) for number in range(4)] for version in range(6)]
    await asyncio.gather(*(put(documents, "a.md", version) for version in versions))
    assert await documents.all_chunks() in versions
    assert await documents.generation() == before + 6


async def test_hashes_are_listed_by_namespace(database: Database) -> None:
    _, documents = await opened(database)
    await put(documents, "a.md", [chunk(1)], "one")
    await put(documents, "a.md", [chunk(1), chunk(2)], "two")
    assert await documents.hashes("one") == {"a.md": "hash of 1"}
    assert await documents.hashes("two") == {"a.md": "hash of 2"}
    assert [record.namespace for record in await documents.list()] == ["one", "two"]
    assert [record.namespace for record in await documents.list("two")] == ["two"]


async def test_scopes_mean_the_same_in_sql_and_in_memory(database: Database) -> None:
    store, documents = await opened(database)
    values = ["1", "1.0", "01", "true", "null", "", " ", "a'b", 'a"b', "%", "\\", "ü", "請求", "x') OR 1=1 --"]
    chunks = [chunk(n, page=n or None, heading=value, metadata={"tag": value}) for n, value in enumerate(values)]
    await put(documents, "a.md", chunks)
    await put(documents, "b.md", [chunk(n, "b.md", namespace="other") for n in range(3)], "other")
    everything = await documents.all_chunks()
    keys = ("tag", "heading", "page", "source", "namespace", "start", "missing", "ref_doc_id", "_node_type")
    scopes = [Scope(filters={key: value}) for key in keys for value in [*values, "a.md", "other", "None", "TextNode"]]
    scopes += [Scope(namespaces=("other",)), Scope(namespaces=("other", "default"), filters={"source": "b.md"})]
    scopes += [Scope(namespaces=("default",), filters={"tag": "1", "page": "1"}), Scope(namespaces=("'; --",))]
    for scope in scopes:
        expected = {each.id for each in everything if in_scope(each, scope)}
        assert {found.id for found, _ in await store.nearest(vector(0), scope, 100)} == expected, scope


async def test_llama_index_reads_the_table_as_its_own(database: Database) -> None:
    store, documents = await opened(database)
    await put(documents, "a.md", [chunk(number, metadata={"author": "A. Clerk"}) for number in range(3)])
    query = VectorStoreQuery(query_embedding=vector(1), similarity_top_k=1)
    result = await store.vector_store.aquery(query)
    assert result.nodes is not None
    (node,) = result.nodes
    assert node.node_id == "a.md-1"
    assert node.get_content(MetadataMode.NONE) == "Passage 1 of a.md."
    assert node.metadata["author"] == "A. Clerk"
    assert node.ref_doc_id


async def test_the_table_is_served_by_the_one_pool_there_is(database: Database) -> None:
    store, _ = await opened(database)
    store.vector_store._initialize()
    assert store.vector_store._async_engine is database.engine
    assert store.vector_store._engine is database.engine.sync_engine


async def test_another_prefix_before_documents_is_another_model_to_an_index(database: Database) -> None:
    plain, prefixed = open_embedder(Embeddings()), open_embedder(Embeddings(document_prefix="passage: "))
    _, documents = await opened(database, prefixed.name)
    await put(documents, "a.md", [chunk(1)])
    with pytest.raises(ConfigError) as caught:
        await opened(database, plain.name)
    assert f"'{plain.name} ('passage: ')'" in str(caught.value)
    assert f"'{plain.name}'" in str(caught.value)
    _, again = await opened(database, open_embedder(Embeddings(document_prefix="passage: ", query_prefix="")).name)
    assert await ids(again) == ["a.md-1"]


async def test_another_embedding_model_is_refused_naming_both_and_the_way_out(database: Database) -> None:
    _, documents = await opened(database)
    await put(documents, "a.md", [chunk(1)])
    with pytest.raises(ConfigError) as caught:
        await opened(database, "model-b", 16)
    for part in ("'model-a' (8 dimensions)", "'model-b' (16 dimensions)", "embeddings.model", "ingest --rebuild"):
        assert part in str(caught.value)
    with pytest.raises(ConfigError, match="'model-c' \\(8 dimensions\\)"):
        await opened(database, "model-c")
    _, again = await opened(database)
    assert await ids(again) == ["a.md-1"]


async def test_an_index_without_documents_adopts_another_model(database: Database) -> None:
    await opened(database)
    _, documents = await opened(database, "model-b", 16)
    record = DocumentRecord(source="a.md", namespace="default", content_hash="x")
    await documents.replace(record, [chunk(1)], [[1.0] * 16])
    assert await documents.count() == 1


async def test_a_dropped_index_may_start_afresh_and_readers_notice(database: Database) -> None:
    _, documents = await opened(database)
    await put(documents, "a.md", [chunk(1)])
    before = await documents.generation()
    await drop_index(database)
    _, documents = await opened(database, "model-b", 16)
    assert await documents.count() == 0
    assert await ids(documents) == []
    assert await documents.generation() > before


async def test_many_may_open_a_new_index_at_once(database: Database) -> None:
    stores = await asyncio.gather(*(opened(database) for _ in range(6)))
    await put(stores[0][1], "a.md", [chunk(1)])
    assert await ids(stores[5][1]) == ["a.md-1"]


async def test_the_vector_index_serves_the_search(database: Database) -> None:
    store, documents = await opened(database)
    await put(documents, "a.md", [chunk(number) for number in range(2000)])
    async with database.engine.connect() as connection:
        await connection.execute(text(f"ANALYZE {store.table.fullname}"))
        query = store._nearest(vector(0), Scope(), 5).compile(
            dialect=connection.dialect, compile_kwargs={"literal_binds": True}
        )
        plan = "\n".join((await connection.execute(text(f"EXPLAIN {query}".replace(":", "\\:")))).scalars())
    assert "data_chunks_embedding_idx" in plan


async def test_connections_are_set_up_for_filtered_searches_once_and_for_good(database: Database) -> None:
    store, _ = await opened(database)
    await store.nearest(vector(0), Scope(), 1)
    for _ in range(2):
        async with database.engine.connect() as connection:
            assert (await connection.execute(text("SHOW hnsw.iterative_scan"))).scalar_one() == "strict_order"
            await connection.rollback()


async def test_a_pgvector_too_old_for_filtered_searches_is_refused(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("condensery.storage.index.PGVECTOR", (99, 1))
    with pytest.raises(ConfigError, match=r"has pgvector 0\.\d+\.\d+, and .* need 99\.1"):
        await opened(database)
