import numpy as np
import pytest

from condensery.retrieval.bm25_index import Bm25Index
from condensery.retrieval.types import Chunk, ScoredChunk, Trace
from condensery.storage.database import Database
from condensery.storage.sentences import SentenceStore, SentenceVectors
from condensery.testing import RecordingEmbedder
from condensery.workflows.quoter import Quoter

SEEN = "The green lamp is made of brass."
UNSEEN = "The red boat costs forty francs."
CHUNK = Chunk(id="c", text=f"{SEEN} {UNSEEN}", source="shop.md")


@pytest.fixture
async def quoter(database: Database) -> Quoter:
    """Over one chunk of which the embedding model saw the first sentence only."""
    embedder, store = RecordingEmbedder(), SentenceStore(database)
    vectors = np.array([await embedder.embed_query(SEEN), [0.0] * embedder.dimension], dtype=np.float32)
    spans = ((0, len(SEEN)), (len(SEEN) + 1, len(CHUNK.text)))
    async with database.transaction() as connection:
        await store.put(connection, "d", {"c": SentenceVectors(spans, vectors)})

    async def weights() -> Bm25Index:
        return Bm25Index([CHUNK])

    return Quoter(embedder, store, weights)


async def test_a_sentence_the_embedding_model_did_not_see_can_be_quoted_by_its_words(quoter: Quoter) -> None:
    found = [ScoredChunk(chunk=CHUNK, score=1.0, trace=Trace())]
    quotes = await quoter.quote("What does the red boat cost?", found, limit=1)
    assert [CHUNK.text[quote.start : quote.end] for quote in quotes] == [UNSEEN]


async def test_a_sentence_it_saw_is_judged_by_its_vector(quoter: Quoter) -> None:
    found = [ScoredChunk(chunk=CHUNK, score=1.0, trace=Trace())]
    quotes = await quoter.quote("Is the green lamp made of brass?", found, limit=5)
    assert SEEN not in [CHUNK.text[quote.start : quote.end] for quote in quotes]
