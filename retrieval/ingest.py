"""Bringing files into the index: read, cut, embed, store; each file whole or not at all."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Protocol

from condensery.models.embedding import Embedder
from condensery.retrieval.chunking import CHUNKING_VERSION, chunk_document
from condensery.retrieval.parsed import Unreadable
from condensery.retrieval.quotable import passage_of, sentence_vectors
from condensery.retrieval.readers import read_document
from condensery.retrieval.sources import SourceFile, find_sources
from condensery.retrieval.types import Chunk, Frozen
from condensery.settings import Settings
from condensery.storage.documents import DocumentRecord, DocumentRepository
from condensery.storage.scope import checked_metadata, is_metadata_key

WINDOW = 256
"""Chunks embedded together, across files: enough to fill batches, few enough to hold in memory."""

Status = Literal["added", "replaced", "unchanged", "failed"]


class IngestFailure(Frozen):
    """A file that is not in the index now, and why, in words for the person who gave it."""

    source: str
    path: str
    reason: str


class IngestProgress(Frozen):
    """One file is done: `done` of `total`."""

    source: str
    status: Status
    done: int
    total: int


class IngestReport(Frozen):
    """What an ingestion did, by source; `chunks` counts those written.

    `cut` are those of the written sources with a chunk longer than the embedding model's input: what is beyond it can
    be found by its words only.
    """

    added: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    failed: tuple[IngestFailure, ...] = ()
    chunks: int = 0
    cut: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every file is in the index now."""
        return not self.failed


class IngestParts(Protocol):
    """What `ingest` works with; `Services` is one."""

    @property
    def settings(self) -> Settings: ...
    @property
    def embedder(self) -> Embedder: ...
    @property
    def documents(self) -> DocumentRepository: ...


@dataclass(frozen=True, slots=True)
class _Prepared:
    record: DocumentRecord
    chunks: list[Chunk]
    status: Status


async def ingest(
    paths: Sequence[Path],
    parts: IngestParts,
    *,
    namespace: str | None = None,
    metadata: Mapping[str, str] | None = None,
    on_progress: Callable[[IngestProgress], None] | None = None,
    on_batch: Callable[[int], None] | None = None,
) -> IngestReport:
    """Bring the files and folders at `paths` into the index; `sources.find_sources` says what each is called.

    A file whose bytes, metadata, chunking and embedding model are as before is left alone. One that cannot be read is
    reported, keeps what an earlier version of it put into the index, and does not hold up the others. Every file gets
    `metadata` beside its own, for filters. Raises ConfigError for a metadata key that is no name, ProviderError when
    the embedder or the database fails; files reported as done until then stay. `on_batch` is told how many chunks were
    embedded each time some were.
    """
    ingestion = _Ingestion(parts, namespace or parts.settings.ingest.namespace, metadata or {}, on_progress, on_batch)
    return await ingestion.run(paths)


class _Ingestion:
    """The state of one call of `ingest`."""

    def __init__(
        self,
        parts: IngestParts,
        namespace: str,
        metadata: Mapping[str, str],
        on_progress: Callable[[IngestProgress], None] | None,
        on_batch: Callable[[int], None] | None,
    ) -> None:
        self._parts = parts
        self._namespace = namespace
        self._metadata = checked_metadata(metadata)
        self._on_progress = on_progress
        self._on_batch = on_batch
        self._total = 0
        self._done: dict[Status, list[str]] = {"added": [], "replaced": [], "unchanged": [], "failed": []}
        self._failures: list[IngestFailure] = []
        self._chunks = 0
        self._cut: list[str] = []

    async def run(self, paths: Sequence[Path]) -> IngestReport:
        files = await asyncio.to_thread(find_sources, list(paths), self._parts.settings.data_dir)
        self._total = len(files)
        window: list[_Prepared] = []
        async for prepared in self._changed(files):
            window.append(prepared)
            if sum(len(each.chunks) for each in window) >= WINDOW:
                await self._store(window)
                window = []
        await self._store(window)
        return IngestReport(
            added=tuple(self._done["added"]),
            replaced=tuple(self._done["replaced"]),
            unchanged=tuple(self._done["unchanged"]),
            failed=tuple(self._failures),
            chunks=self._chunks,
            cut=tuple(self._cut),
        )

    async def _changed(self, files: list[SourceFile]) -> AsyncIterator[_Prepared]:
        known = await self._parts.documents.hashes(self._namespace)
        for file in files:
            try:
                prepared = await asyncio.to_thread(self._prepare, file, known.get(file.source))
            except Unreadable as reason:
                self._failures.append(IngestFailure(source=file.source, path=str(file.path), reason=str(reason)))
                self._report(file.source, "failed")
                continue
            if prepared is None:
                self._report(file.source, "unchanged")
            else:
                yield prepared

    def _prepare(self, file: SourceFile, known: str | None) -> _Prepared | None:
        """Read, parse and cut a file in a worker thread; None when it is as it was."""
        if file.problem:
            raise Unreadable(file.problem)
        try:
            data = file.path.read_bytes()
        except OSError as error:
            raise Unreadable(f"cannot be read: {error.strerror or error}") from error
        content_hash = self._hash(file.path.suffix, data)
        if content_hash == known:
            return None
        document = read_document(file.path.name, data)
        own = {key: value for key, value in document.metadata.items() if is_metadata_key(key)}
        document = replace(document, metadata={**own, **self._metadata})
        chunks = chunk_document(document, file.source, self._namespace, self._parts.settings.ingest)
        record = DocumentRecord(
            source=file.source,
            namespace=self._namespace,
            content_hash=content_hash,
            title=document.title,
            chars=len(document.text),
            chunks=len(chunks),
            metadata=dict(document.metadata),
        )
        return _Prepared(record, chunks, "added" if known is None else "replaced")

    def _hash(self, suffix: str, data: bytes) -> str:
        settings = self._parts.settings.ingest
        decides = [CHUNKING_VERSION, suffix, settings.chunk_chars, settings.overlap_chars, self._parts.embedder.name]
        return hashlib.sha256(json.dumps([*decides, sorted(self._metadata.items())]).encode() + data).hexdigest()

    async def _store(self, window: list[_Prepared]) -> None:
        passages = [passage_of(chunk) for prepared in window for chunk in prepared.chunks]
        embedded = iter(await self._parts.embedder.embed_passages(passages, self._on_batch) if passages else ())
        for prepared in window:
            made = [next(embedded) for _ in prepared.chunks]
            sentences = [sentence_vectors(*pair) for pair in zip(prepared.chunks, made, strict=True)]
            vectors = [each.vector for each in made]
            await self._parts.documents.replace(prepared.record, prepared.chunks, vectors, sentences)
            self._chunks += len(prepared.chunks)
            if any(each.cut for each in made):
                self._cut.append(prepared.record.source)
            self._report(prepared.record.source, prepared.status)

    def _report(self, source: str, status: Status) -> None:
        self._done[status].append(source)
        done = sum(map(len, self._done.values()))
        if self._on_progress:
            self._on_progress(IngestProgress(source=source, status=status, done=done, total=self._total))
