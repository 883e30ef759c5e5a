"""An index of a test's own: real Postgres, and an embedder for which texts with common words are near each other."""

import hashlib
import io
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from pypdf import PdfWriter
from pypdf.generic import DictionaryObject, NameObject, StreamObject

from condensery.models.passages import Passage, PassageVectors
from condensery.retrieval.ingest import IngestProgress, IngestReport, ingest
from condensery.retrieval.methods import RetrievalParts, open_retriever
from condensery.retrieval.tokenize import terms
from condensery.retrieval.types import Scope, ScoredChunk, SearchQuery
from condensery.settings import Settings
from condensery.storage.chunks import ChunkStore
from condensery.storage.database import Database
from condensery.storage.documents import DocumentRepository
from condensery.storage.index import open_chunk_store


class WordsEmbedder:
    """Vectors of word counts: the cosine of two texts grows with the words they share."""

    def __init__(self, *, name: str = "words", dimension: int = 384) -> None:
        self.name = name
        self.dimension = dimension
        self.documents: list[str] = []

    async def embed_query(self, text: str) -> list[float]:
        """Return the unit vector of `text`, or of nothing in particular when it has no words."""
        vector = [1e-9] * self.dimension
        for term, count in Counter(terms(text)).items():
            digest = hashlib.blake2b(term.encode(), digest_size=4).digest()
            vector[int.from_bytes(digest, "big") % self.dimension] += count
        length = math.sqrt(sum(value * value for value in vector))
        return [value / length for value in vector]

    async def embed_documents(
        self, texts: Sequence[str], on_batch: Callable[[int], None] | None = None
    ) -> list[list[float]]:
        """Return one vector per text."""
        return [each.vector for each in await self.embed_passages([Passage(text) for text in texts], on_batch)]

    async def embed_passages(
        self, passages: Sequence[Passage], on_batch: Callable[[int], None] | None = None
    ) -> list[PassageVectors]:
        """Return one vector per passage and per span of it."""
        self.documents.extend(passage.text for passage in passages)
        return [
            PassageVectors(
                await self.embed_query(each.text), [await self.embed_query(each.text[a:b]) for a, b in each.spans]
            )
            for each in passages
        ]


@dataclass
class Library:
    """An opened index, and the folder that is ingested into it."""

    settings: Settings
    database: Database
    embedder: WordsEmbedder
    chunks: ChunkStore
    documents: DocumentRepository
    parts: RetrievalParts
    folder: Path

    def write(self, files: Mapping[str, str | bytes]) -> None:
        """Put files into the folder."""
        for name, content in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())

    async def add(
        self,
        files: Mapping[str, str | bytes],
        *,
        namespace: str | None = None,
        metadata: Mapping[str, str] | None = None,
        on_progress: Callable[[IngestProgress], None] | None = None,
    ) -> IngestReport:
        """Put files into the folder and ingest it."""
        self.write(files)
        return await ingest([self.folder], self, namespace=namespace, metadata=metadata, on_progress=on_progress)

    async def search(
        self, text: str, method: str = "hybrid", *, limit: int = 10, scope: Scope | None = None
    ) -> list[ScoredChunk]:
        """Search with the method of that name."""
        retriever = open_retriever(method, self.parts)
        return await retriever.search(SearchQuery(text=text), scope=scope or Scope(), limit=limit)

    async def sources(
        self, text: str, method: str = "hybrid", *, limit: int = 10, scope: Scope | None = None
    ) -> set[str]:
        """Return the sources a search finds."""
        return {found.chunk.source for found in await self.search(text, method, limit=limit, scope=scope)}


async def open_library(settings: Settings, database: Database, folder: Path, embedder: WordsEmbedder) -> Library:
    """Open the index in `database`."""
    chunks = await open_chunk_store(database, model=embedder.name, dimension=embedder.dimension)
    documents = DocumentRepository(database, chunks)
    parts = RetrievalParts(settings.retrieval, embedder, chunks, documents)
    return Library(settings, database, embedder, chunks, documents, parts, folder)


@pytest.fixture
async def library(settings: Settings, database: Database, tmp_path: Path) -> Library:
    """An empty index and an empty folder."""
    folder = tmp_path / "documents"
    folder.mkdir()
    return await open_library(settings, database, folder, WordsEmbedder())


@pytest.fixture
def make_pdf() -> Callable[[Sequence[str]], bytes]:
    """Make a PDF with one page per text, each line of a text on a line of the page."""

    def make(pages: Sequence[str]) -> bytes:
        writer = PdfWriter()
        font = DictionaryObject(
            {
                NameObject("/Type"): NameObject("/Font"),
                NameObject("/Subtype"): NameObject("/Type1"),
                NameObject("/BaseFont"): NameObject("/Helvetica"),
            }
        )
        for text in pages:
            page = writer.add_blank_page(595, 842)
            fonts = DictionaryObject({NameObject("/F1"): font})
            page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
            content = StreamObject()
            shown = "".join(f"({line}) Tj T* " for line in text.split("\n")) if text else ""
            content.set_data(f"BT /F1 12 Tf 14 TL 72 770 Td {shown}ET".encode())
            page[NameObject("/Contents")] = writer._add_object(content)
        buffer = io.BytesIO()
        writer.write(buffer)
        return buffer.getvalue()

    return make
