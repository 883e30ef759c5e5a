import numpy as np

from condensery.retrieval.types import Chunk
from condensery.storage.database import Database
from condensery.storage.documents import DocumentRecord, DocumentRepository
from condensery.storage.index import open_chunk_store
from condensery.storage.sentences import SentenceVectors

CHUNK = Chunk(id="c1", text="One. Two.", source="a.md")
SENTENCES = SentenceVectors(((0, 4), (5, 9)), np.array([[1, 0, 0, 0], [0, 0.6, 0.8, 0]], dtype=np.float32))


async def repository(database: Database) -> DocumentRepository:
    return DocumentRepository(database, await open_chunk_store(database, model="four", dimension=4))


def record(content: str) -> DocumentRecord:
    return DocumentRecord(source="a.md", namespace="default", content_hash=content)


async def test_sentences_are_kept_with_their_places_and_vectors(database: Database) -> None:
    documents = await repository(database)
    await documents.replace(record("1"), [CHUNK], [[1.0, 0, 0, 0]], [SENTENCES])
    found = await documents.sentences.of(["c1", "unknown"])
    assert set(found) == {"c1"}
    assert found["c1"].spans == SENTENCES.spans
    assert np.allclose(found["c1"].vectors, SENTENCES.vectors, atol=1e-3)


async def test_sentences_go_with_their_document(database: Database) -> None:
    documents = await repository(database)
    await documents.replace(record("1"), [CHUNK], [[1.0, 0, 0, 0]], [SENTENCES])
    await documents.replace(record("2"), [CHUNK.model_copy(update={"id": "c2"})], [[1.0, 0, 0, 0]])
    assert await documents.sentences.of(["c1", "c2"]) == {}
    await documents.replace(record("3"), [CHUNK], [[1.0, 0, 0, 0]], [SENTENCES])
    await documents.remove("a.md", "default")
    assert await documents.sentences.of(["c1"]) == {}
