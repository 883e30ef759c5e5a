"""Dense search: nearest first, nothing far, nothing out of scope."""

from dataclasses import replace
from pathlib import Path

import pytest

from condensery.errors import ConfigError, ProviderError
from condensery.models.embedding import open_embedder
from condensery.retrieval.ingest import ingest
from condensery.retrieval.methods import RetrievalParts, open_retriever
from condensery.retrieval.types import Chunk, Scope, SearchQuery
from condensery.settings import Settings
from condensery.storage.chunks import ChunkStore
from condensery.storage.database import Database
from condensery.storage.documents import DocumentRecord, DocumentRepository
from condensery.storage.index import open_chunk_store

from .conftest import Library

FILES = {
    "refunds.txt": "Refunds are paid within thirty days.",
    "dogs.txt": "Dogs must be kept on a lead.",
    "parking.txt": "Parking costs ten francs a day.",
}


def turned(library: Library, **settings: float) -> RetrievalParts:
    return replace(library.parts, settings=library.parts.settings.model_copy(update=settings))


async def test_the_nearest_chunk_comes_first_with_its_cosine(library: Library) -> None:
    await library.add(FILES)
    (best, *_) = await library.search("refunds within thirty days", "semantic")
    assert best.chunk.source == "refunds.txt"
    assert 0.5 < best.score <= 1
    assert best.trace.arms["semantic"].rank == 1


async def test_a_hit_under_the_least_similarity_is_dropped(library: Library) -> None:
    await library.add(FILES)
    assert await library.search("volcano eruption", "semantic") == []
    everything = open_retriever("semantic", turned(library, min_similarity=-1))
    assert len(await everything.search(SearchQuery(text="volcano eruption"), scope=Scope(), limit=10)) == 3


async def test_a_given_passage_is_embedded_as_a_document_in_place_of_the_question(library: Library) -> None:
    await library.add(FILES)
    library.embedder.documents.clear()
    query = SearchQuery(text="refunds", passage="Dogs on a lead.")
    (best, *_) = await open_retriever("semantic", library.parts).search(query, scope=Scope(), limit=1)
    assert best.chunk.source == "dogs.txt"
    assert library.embedder.documents == ["Dogs on a lead."]


async def test_a_search_of_an_empty_index_finds_nothing(library: Library) -> None:
    assert await library.search("anything", "semantic") == []


async def fill(library: Library, count: int, scarce: int) -> None:
    """`count` chunks near one question; the `scarce` ones in a namespace and with a tag of their own lie farthest."""
    (question,) = await library.embedder.embed_documents(["needle"])
    for number in range(2):
        chunks, vectors = [], []
        for i in range(scarce if number else count):
            text = f"needle {number} {i}"
            namespace = ("common", "scarce")[number]
            chunks.append(
                Chunk(id=text, text=text, source="a", namespace=namespace, metadata={"tag": namespace}, start=i)
            )
            vector = [value * (0.9 - number * 0.5) for value in question]
            vector[i % 300] += 0.3 + i / 10_000
            vectors.append(vector)
        record = DocumentRecord(source="a", namespace=namespace, content_hash="x")
        await library.documents.replace(record, chunks, vectors)


@pytest.mark.parametrize("scope", [Scope(namespaces=("scarce",)), Scope(filters={"tag": "scarce"})])
async def test_a_narrow_scope_still_gets_enough_results(library: Library, scope: Scope) -> None:
    await fill(library, 1500, 12)
    results = await open_retriever("semantic", turned(library, min_similarity=-1)).search(
        SearchQuery(text="needle"), scope=scope, limit=12
    )
    assert {result.chunk.metadata["tag"] for result in results} == {"scarce"}
    assert len(results) == 12


async def test_more_results_than_the_graph_lists_at_once_can_be_had(library: Library) -> None:
    await fill(library, 1500, 1)
    vector = await library.embedder.embed_query("needle")
    assert len(await library.chunks.nearest(vector, Scope(), 700)) == 700


@pytest.mark.parametrize("method", ["semantic", "bm25", "hybrid"])
async def test_a_filter_value_is_only_ever_compared(library: Library, method: str) -> None:
    await library.add(FILES)
    for value in ("x') OR 1=1 --", "'; DROP TABLE documents; --", "1", "%", "", "a\x00b", "\ud800"):
        assert await library.search("refunds dogs parking", method, scope=Scope(filters={"department": value})) == []
        assert await library.search("refunds dogs parking", method, scope=Scope(namespaces=(value,))) == []
    assert len(await library.search("refunds", method, scope=Scope(filters={"source": "refunds.txt"}))) == 1


@pytest.mark.parametrize("method", ["semantic", "bm25", "hybrid"])
async def test_a_filter_key_that_is_no_name_is_refused(library: Library, method: str) -> None:
    for key in ("x' = '' OR 1=1 --", "a b", "", "1a", 'a"b', "a\n"):
        with pytest.raises(ConfigError, match="filter key"):
            await library.search("refunds", method, scope=Scope(filters={key: "x"}))


async def test_a_database_out_of_reach_is_a_provider_error(library: Library, tmp_path: Path) -> None:
    nowhere = Database(library.database.url.update_query_dict({"host": str(tmp_path)}))
    chunks = ChunkStore(nowhere, library.chunks.vector_store)
    retriever = open_retriever("semantic", replace(library.parts, chunks=chunks))
    with pytest.raises(ProviderError, match="cannot reach"):
        await retriever.search(SearchQuery(text="refunds"), scope=Scope(), limit=5)
    await nowhere.close()


async def test_the_bundled_model_finds_by_meaning(settings: Settings, database: Database, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, content in FILES.items():
        (folder / name).write_text(content)
    embedder = open_embedder(settings.embeddings)
    chunks = await open_chunk_store(database, model=embedder.name, dimension=embedder.dimension)
    documents = DocumentRepository(database, chunks)
    parts = RetrievalParts(settings.retrieval, embedder, chunks, documents)
    services = type("Parts", (), {"settings": settings, "embedder": embedder, "documents": documents})()
    try:
        await ingest([folder], services)
        retriever = open_retriever("semantic", parts)
        (best, *_) = await retriever.search(SearchQuery(text="get my money back"), scope=Scope(), limit=1)
        assert best.chunk.source == "refunds.txt"
        assert await retriever.search(SearchQuery(text="quantum chromodynamics"), scope=Scope(), limit=3) == []
    finally:
        await embedder.close()
