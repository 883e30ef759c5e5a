"""Ingestion: whole files, only what changed, and a reason for each that failed."""

import asyncio
import errno
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import func, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from condensery.errors import ConfigError, ProviderError
from condensery.retrieval.ingest import IngestProgress, ingest
from condensery.retrieval.types import Scope
from condensery.storage import documents as documents_module

from .conftest import Library

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")
MakePdf = Callable[[Sequence[str]], bytes]


async def texts(library: Library) -> set[str]:
    return {chunk.text for chunk in await library.documents.all_chunks()}


async def test_every_readable_file_of_a_folder_becomes_searchable(library: Library, make_pdf: MakePdf) -> None:
    report = await library.add(
        {
            "fees.txt": "A parking permit costs ten francs.",
            "more/rules.md": "# Rules\n\nDogs must be on a lead.",
            "page.html": "<p>The museum closes at noon.</p>",
            "paper.pdf": make_pdf(["The bridge was built in 1908."]),
        }
    )
    assert report.added == ("fees.txt", "more/rules.md", "page.html", "paper.pdf")
    assert report.ok
    assert report.chunks == 4
    assert await library.sources("when was the bridge built", limit=1) == {"paper.pdf"}
    assert await library.sources("dogs lead", limit=1) == {"more/rules.md"}


async def test_an_unchanged_file_is_left_alone(library: Library) -> None:
    await library.add({"a.txt": "One thing.", "b.txt": "Another thing."})
    before = await library.documents.generation()
    report = await library.add({})
    assert report.unchanged == ("a.txt", "b.txt")
    assert len(library.embedder.documents) == 2
    assert await library.documents.generation() == before


async def test_a_changed_file_replaces_its_old_rows(library: Library) -> None:
    await library.add({"a.txt": "The fee is ten francs.", "b.txt": "Unrelated."})
    report = await library.add({"a.txt": "The fee is twelve francs."})
    assert (report.added, report.replaced, report.unchanged) == ((), ("a.txt",), ("b.txt",))
    assert await texts(library) == {"The fee is twelve francs.", "Unrelated."}
    assert [record.source for record in await library.documents.list()] == ["a.txt", "b.txt"]


async def test_other_chunking_settings_ingest_a_file_anew(library: Library) -> None:
    await library.add({"a.txt": "One thing."})
    library.settings = library.settings.model_copy(
        update={"ingest": library.settings.ingest.model_copy(update={"chunk_chars": 500})}
    )
    assert (await library.add({})).replaced == ("a.txt",)


async def test_files_with_nul_characters_and_lone_surrogates_are_searchable(library: Library) -> None:
    report = await library.add(
        {
            "nul.txt": b"The lantern a\x00b hangs high.",
            "surrogate.txt": "The kettle \ud800 boils.".encode("utf-8", "surrogatepass"),
            "plain.txt": "The ladder leans.",
        }
    )
    assert report.ok
    for method in ("semantic", "bm25", "hybrid"):
        assert await library.sources("lantern a\x00b", method, limit=1) == {"nul.txt"}
        assert await library.sources("kettle \ud800 boils", method, limit=1) == {"surrogate.txt"}
        assert await library.sources("ladder", method, limit=1) == {"plain.txt"}


async def test_a_file_name_with_an_apostrophe_works(library: Library, make_pdf: MakePdf) -> None:
    await library.add({"O'Neil.pdf": make_pdf(["The lease ends in May."]), "other.txt": "The lease is long."})
    assert await library.sources("lease", scope=Scope(filters={"source": "O'Neil.pdf"})) == {"O'Neil.pdf"}


async def test_files_that_cannot_be_read_are_reported_and_the_rest_goes_on(library: Library, make_pdf: MakePdf) -> None:
    report = await library.add(
        {"empty.txt": "", "scan.pdf": make_pdf([""]), "photo.png": b"\x89PNG", "good.txt": "Good."}
    )
    assert report.added == ("good.txt",)
    assert not report.ok
    reasons = {failure.source: failure.reason for failure in report.failed}
    assert reasons["empty.txt"] == "empty file"
    assert "scanned" in reasons["scan.pdf"]
    assert "unknown format" in reasons["photo.png"]
    assert await library.documents.count() == 1


async def test_a_file_that_the_system_refuses_to_read_is_reported(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> bytes:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    library.write({"locked.txt": "text"})
    monkeypatch.setattr(Path, "read_bytes", refuse)  # root, who runs many test suites, may read everything
    report = await library.add({})
    assert report.failed[0].reason == "cannot be read: Permission denied"


async def test_a_file_that_became_unreadable_keeps_what_it_had(library: Library) -> None:
    await library.add({"a.txt": "The old text."})
    report = await library.add({"a.txt": ""})
    assert [failure.source for failure in report.failed] == ["a.txt"]
    assert await texts(library) == {"The old text."}


async def test_progress_counts_up_to_the_number_of_files(library: Library) -> None:
    seen: list[IngestProgress] = []
    await library.add({"a.txt": "One.", "b.txt": "", "c.txt": "Three."}, on_progress=seen.append)
    assert [progress.done for progress in seen] == [1, 2, 3]
    assert {progress.total for progress in seen} == {3}
    assert {progress.source: progress.status for progress in seen} == {
        "a.txt": "added",
        "b.txt": "failed",
        "c.txt": "added",
    }


async def test_metadata_given_with_files_can_be_filtered_by(library: Library) -> None:
    library.write({"a.txt": "The fee is ten francs.", "b.txt": "The fee is five francs."})
    await ingest([library.folder / "a.txt"], library, metadata={"department": "HR"})
    await ingest([library.folder / "b.txt"], library, metadata={"department": "IT"})
    assert await library.sources("fee", scope=Scope(filters={"department": "IT"})) == {"b.txt"}
    report = await library.add({}, metadata={"department": "HR"})
    assert (report.unchanged, report.replaced) == (("a.txt",), ("b.txt",))


@pytest.mark.parametrize("key", ["source", "page", "a b", "x'", "_node_content", "document_id", ""])
async def test_a_metadata_key_that_cannot_be_used_is_refused(library: Library, key: str) -> None:
    with pytest.raises(ConfigError, match="metadata key"):
        await library.add({"a.txt": "Text."}, metadata={key: "value"})


async def test_front_matter_that_uses_a_name_of_ours_does_no_harm(library: Library) -> None:
    await library.add({"a.md": "---\nsource: elsewhere\ntopic: fees\n---\nThe fee is ten francs."})
    assert await library.sources("fee", scope=Scope(filters={"topic": "fees"})) == {"a.md"}


async def test_the_same_file_may_be_in_two_namespaces(library: Library) -> None:
    await library.add({"a.txt": "The fee is ten francs."}, namespace="one")
    await library.add({}, namespace="two")
    found = await library.search("fee", "bm25")
    assert {result.chunk.namespace for result in found} == {"one", "two"}
    assert len({result.chunk.id for result in found}) == 2
    assert [record.namespace for record in await library.documents.list()] == ["one", "two"]


async def test_two_ingestions_at_once_leave_one_copy_of_each_file(library: Library) -> None:
    library.write({f"{number}.txt": f"Document number {number}." for number in range(8)})
    await asyncio.gather(*(ingest([library.folder], library) for _ in range(3)))
    assert len(await library.documents.all_chunks()) == await library.documents.count() == 8


async def test_two_versions_at_once_leave_one_of_them_whole(library: Library, tmp_path: Path) -> None:
    versions = []
    for name in ("old", "new"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "a.md").write_text("\n\n".join(f"# {part}\n\nThe {name} part {part}." for part in range(5)))
        versions.append(folder)
    await asyncio.gather(*(ingest([folder], library) for folder in versions * 3))
    kinds = {chunk.text.split()[1] for chunk in await library.documents.all_chunks()}
    assert len(kinds) == 1
    assert len(await library.documents.all_chunks()) == 5


async def test_a_file_whose_ingestion_dies_half_way_keeps_its_old_text(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    await library.add({"a.txt": "The old text.", "b.txt": "Another."})

    async def die(connection: AsyncConnection) -> None:
        await connection.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))

    with monkeypatch.context() as patch:
        patch.setattr(documents_module, "raise_generation", die)
        with pytest.raises(ProviderError):
            await library.add({"a.txt": "The new text."})
    assert await texts(library) == {"The old text.", "Another."}
    assert (await library.add({})).replaced == ("a.txt",)
    assert await texts(library) == {"The new text.", "Another."}


async def test_a_cancelled_ingestion_leaves_every_file_whole_or_absent(library: Library) -> None:
    library.write({f"{number}.txt": f"Document number {number}." for number in range(8)})
    first_done = asyncio.Event()

    async def run() -> None:
        await ingest([library.folder], library, on_progress=lambda _: first_done.set())

    task = asyncio.create_task(run())
    await first_done.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(await library.documents.all_chunks()) == await library.documents.count() < 8
    assert (await library.add({})).ok
    assert len(await library.documents.all_chunks()) == 8


async def test_an_embedder_that_fails_stops_the_ingestion_and_stores_nothing_of_it(library: Library) -> None:
    async def fail(*_: object) -> list[list[float]]:
        raise ProviderError("the embedder failed")

    broken = replace(library)
    broken.embedder = type("Broken", (), {"name": "words", "dimension": 384, "embed_passages": fail})()
    with pytest.raises(ProviderError):
        await broken.add({"a.txt": "Text."})
    assert await library.documents.count() == 0


async def test_files_are_embedded_together_in_windows(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("condensery.retrieval.ingest.WINDOW", 3)
    report = await library.add({f"{number}.txt": f"Document number {number}." for number in range(7)})
    assert len(report.added) == 7
    assert len(await library.documents.all_chunks()) == 7


async def test_an_ingestion_of_nothing_reports_nothing(library: Library) -> None:
    report = await library.add({})
    assert report.ok
    assert report.chunks == 0


async def test_no_row_outlives_its_document(library: Library) -> None:
    await library.add({"a.txt": "One thing.", "b.txt": "Another thing."})
    assert await library.documents.remove("a.txt", "default")
    assert not await library.documents.remove("a.txt", "default")
    async with library.database.engine.connect() as connection:
        count = (await connection.execute(select(func.count()).select_from(library.chunks.table))).scalar_one()
    assert count == 1
