"""`condensery ingest`: files into the index, with a bar, a report and an exit code."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Column

from condensery.errors import ConfigError
from condensery.models.embedding import open_embedder
from condensery.retrieval.ingest import IngestFailure, IngestProgress, IngestReport
from condensery.retrieval.readers import UNKNOWN_FORMAT
from condensery.settings import Settings
from condensery.storage.database import open_database
from condensery.storage.index import drop_index
from condensery.terminal.opening import opened
from condensery.terminal.options import Options
from condensery.terminal.output import err, out, plain
from condensery.terminal.running import Code
from condensery.terminal.spinner import spinning


async def ingest(
    paths: list[Path], options: Options, *, namespace: str | None, as_json: bool, rebuild: bool = False
) -> Code:
    """Ingest and report; 1 when a file failed. Cancelled: says how far it came. `rebuild` empties the index first."""
    overrides: dict[str, Any] = {"ingest": {"namespace": namespace}} if namespace else {}
    settings = options.settings(**overrides)
    if rebuild:
        await empty(paths, settings)
    async with opened(settings) as app:
        with Bar() as bar:
            try:
                report = await app.ingest(paths, on_progress=bar.see, on_batch=bar.embedded)
            except asyncio.CancelledError:
                bar.stop()
                err.say(stopped(bar.counts, bar.total))
                raise
    if as_json:
        out.write(report.model_dump_json(indent=2) + "\n")
    else:
        show_report(report)
    return Code.OK if report.ok else Code.FAILED


async def empty(paths: list[Path], settings: Settings) -> None:
    """Delete the index; raises ConfigError before that when the paths or the model to rebuild it from are not there."""
    missing = [str(path) for path in paths if not path.expanduser().exists()]
    if missing:
        raise ConfigError(f"no such file or folder: {', '.join(missing)}; the index is left as it is")
    await open_embedder(settings.embeddings).close()
    with spinning("Emptying the index…"):
        async with open_database(settings) as database:
            await drop_index(database)


class Bar(Progress):
    """The progress of an ingestion on stderr, drawn only in a terminal; counts files by what became of them."""

    def __init__(self) -> None:
        numbers = TextColumn("files, {task.fields[chunks]} chunks embedded")
        name = TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True))
        columns = (BarColumn(), MofNCompleteColumn(), numbers, TimeElapsedColumn(), name)
        super().__init__(*columns, console=err, transient=True, disable=not err.is_terminal)
        self.counts: Counter[str] = Counter()
        self.total: int | None = None
        self._chunks = 0
        self._bar = self.add_task("", total=None, chunks=0)

    def see(self, progress: IngestProgress) -> None:
        """Take in that one file is done."""
        self.counts[progress.status] += 1
        self.total = progress.total
        name = plain(progress.source)
        self.update(self._bar, total=progress.total, completed=progress.done, description=name, refresh=True)

    def embedded(self, chunks: int) -> None:
        """Take in that so many more chunks are embedded."""
        self._chunks += chunks
        self.update(self._bar, refresh=True, chunks=self._chunks)


def show_report(report: IngestReport) -> None:
    """Print what became of the files: numbers on stdout, and the failures with their reasons on stderr."""
    kinds = ("added", "replaced", "unchanged", "failed")
    counts = ", ".join(f"{len(getattr(report, kind))} {kind}" for kind in kinds)
    out.say(f"{counts}; {report.chunks} chunks written")
    for failures in grouped(report.failed):
        more = f" and {len(failures) - 1} more" if len(failures) > 1 else ""
        err.say(f"failed: {failures[0].path}{more}: {failures[0].reason}", style="red")
    if report.cut:
        err.say(
            f"warning: {', '.join(report.cut)}: some passages are longer than the embedding model reads; their ends "
            "are found by words only. Lower ingest.chunk_chars and ingest again.",
            style="yellow",
        )


def grouped(failures: Sequence[IngestFailure]) -> list[list[IngestFailure]]:
    """The failures, each by itself but for files of one unknown format, of which a folder may hold thousands."""
    groups: dict[str, list[IngestFailure]] = {}
    for number, failure in enumerate(failures):
        together = failure.reason.startswith(UNKNOWN_FORMAT)
        groups.setdefault(failure.reason if together else str(number), []).append(failure)
    return list(groups.values())


def stopped(counts: Counter[str], total: int | None) -> str:
    """What an interrupted ingestion left behind."""
    done = f"{counts.total()} of {total} files were done" if total else "no file was done yet"
    return f"Stopped: {done}. Every file is in the index whole or as it was; the same command takes up the rest."
