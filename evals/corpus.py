"""An index of the data in a Postgres of its own: in a temporary folder, or in one that is kept for the next time."""

import hashlib
import json
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from condensery.app import App, open_app
from condensery.errors import ConfigError
from condensery.evals.data import Data, Passage
from condensery.retrieval.chunking import CHUNKING_VERSION, chunk_document
from condensery.retrieval.parsed import Piece, from_pieces
from condensery.retrieval.quotable import passage_of, sentence_vectors
from condensery.retrieval.types import Chunk
from condensery.settings import Ingest, Settings
from condensery.storage.documents import DocumentRecord

WINDOW = 128
"""Passages embedded together."""

OnIndexed = Callable[[int, int], None]
"""Told how many of how many passages or files are in the index."""


def eval_settings(settings: Settings, folder: Path, *, whole: bool = False, deep: bool = True) -> Settings:
    """`settings` for a measurement in `folder`: never the person's own database.

    `deep`: retrieval hands over every candidate, so that ten distinct passages are among them; fusion, which looks at
    `retrieval.candidates` of each arm anyway, ranks them as it would for an answer. `whole`: a passage is one chunk.
    """
    values: dict[str, Any] = settings.model_dump()
    values |= {"data_dir": folder, "database_url": None}
    if whole:
        values["ingest"] |= {"chunk_chars": 20_000}
    if deep:
        values["retrieval"] |= {"top_k": min(values["retrieval"]["candidates"], 100)}
        values["rerank"] |= {"top_n": min(values["rerank"]["candidates"], 100)}
    return Settings.model_validate(values)


@asynccontextmanager
async def opened_in(
    keep: Path | None, settings: Settings, *, whole: bool = False, deep: bool = True
) -> AsyncIterator[App]:
    """An app for measuring, in the folder `keep` or in one that is gone afterwards; see `eval_settings`."""
    with tempfile.TemporaryDirectory(prefix="cnd-", ignore_cleanup_errors=True) as temporary:
        folder = Path(temporary) if keep is None else keep
        async with open_app(eval_settings(settings, folder, whole=whole, deep=deep)) as app:
            yield app


async def index(app: App, data: Data, on_indexed: OnIndexed) -> None:
    """Bring the data into the index, and what is of other data out of it; what is there unchanged is left alone.

    Raises ConfigError when a file of the corpus cannot be read.
    """
    if data.corpus is None:
        await index_passages(app, data.passages, on_indexed)
        sources = {passage.id for passage in data.passages}
    else:
        report = await app.ingest(data.corpus, on_progress=lambda file: on_indexed(file.done, file.total))
        if report.failed:
            reasons = "; ".join(f"{failure.path}: {failure.reason}" for failure in report.failed)
            raise ConfigError(f"the corpus cannot be ingested: {reasons}")
        sources = {*report.added, *report.replaced, *report.unchanged}
    for record in await app.services.documents.list():
        if record.source not in sources:
            await app.services.documents.remove(record.source, record.namespace)
    await app.warm()


async def index_passages(app: App, passages: Sequence[Passage], on_indexed: OnIndexed) -> None:
    """Cut and embed passages as documents are, and store each as a document of its id, without a title."""
    known = await app.services.documents.hashes(app.settings.ingest.namespace)
    new = [passage for passage in passages if known.get(passage.id) != _hash(app, passage)]
    done = len(passages) - len(new)
    on_indexed(done, len(passages))
    for start in range(0, len(new), WINDOW):
        window = new[start : start + WINDOW]
        await _store(app, window)
        done += len(window)
        on_indexed(done, len(passages))


async def _store(app: App, window: Sequence[Passage]) -> None:
    services, settings = app.services, app.settings.ingest
    chunks = [chunks_of(passage, settings) for passage in window]
    embedded = iter(await services.embedder.embed_passages([passage_of(chunk) for each in chunks for chunk in each]))
    async with services.database.transaction() as connection:
        for passage, own in zip(window, chunks, strict=True):
            made = [next(embedded) for _ in own]
            record = DocumentRecord(
                source=passage.id,
                namespace=settings.namespace,
                content_hash=_hash(app, passage),
                chars=len(passage.text),
                chunks=len(own),
            )
            vectors = [each.vector for each in made]
            sentences = [sentence_vectors(*pair) for pair in zip(own, made, strict=True)]
            await services.documents.replace_in(connection, record, own, vectors, sentences)


def chunks_of(passage: Passage, settings: Ingest) -> list[Chunk]:
    """The chunks of a passage: text without headings or a title, so that ids do not become words to search for."""
    document = from_pieces(Piece(part) for part in passage.text.split("\n\n"))
    return chunk_document(document, passage.id, settings.namespace, settings)


def _hash(app: App, passage: Passage) -> str:
    decides = [CHUNKING_VERSION, app.settings.ingest.model_dump(), app.services.embedder.name, passage.id, passage.text]
    return hashlib.sha256(json.dumps(decides).encode()).hexdigest()
