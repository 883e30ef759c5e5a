"""Which files an ingestion means, and the stable name of each."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from condensery.retrieval.text import uniform


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to ingest under the name `source`, or, with `problem`, the reason why it cannot be."""

    path: Path
    source: str
    problem: str | None = None


def find_sources(paths: Sequence[Path], data_dir: Path | None = None) -> list[SourceFile]:
    """Return the files that `paths` mean, folders walked in order; blocks, so call it off the event loop.

    The rule of names: a file of an ingested folder is called by its path relative to that folder, with `/` between the
    parts, and a file given by itself by its file name. So `examples/docs` gives the same names from any working
    directory, and a file that moves along with its folder stays the same document. It follows that two folders which
    both hold a `readme.md` need two namespaces, or a folder above both: in one ingestion the second such file is a
    problem here, in a later one it is a new version. Walks leave out links to folders and what is hidden (names that
    begin with a dot), `data_dir` and the folders of Postgres clusters. A file met twice counts once.
    """
    apart = data_dir.expanduser().resolve() if data_dir else None
    found: dict[str, SourceFile] = {}
    clashes: list[SourceFile] = []
    seen: set[Path] = set()
    for file in (file for path in paths for file in _files(path, apart)):
        real = file.path.resolve()
        if real in seen:
            continue
        seen.add(real)
        if file.source in found:
            other = found[file.source].path
            problem = f"has the same name as {other}; ingest a folder above both, or use two namespaces"
            clashes.append(SourceFile(file.path, file.source, problem))
        else:
            found[file.source] = file
    return [*found.values(), *clashes]


def _files(path: Path, apart: Path | None) -> Iterator[SourceFile]:
    path = path.expanduser()
    if _is_cluster(path):
        yield SourceFile(path, _name(path.resolve().name), "the files of a Postgres database, which are no documents")
    elif path.is_dir():
        found = _walk(path, path, apart)
        yield from sorted(found, key=lambda file: file.path)
    else:
        problem = None if path.is_file() else "not a regular file" if path.exists() else "no such file or folder"
        yield SourceFile(path, _name(path.name), problem)


def _walk(folder: Path, root: Path, apart: Path | None) -> Iterator[SourceFile]:
    try:
        entries = [entry for entry in folder.iterdir() if not entry.name.startswith(".")]
    except OSError as error:
        yield SourceFile(folder, _name(folder.relative_to(root).as_posix()), f"cannot be listed: {error.strerror}")
        return
    for entry in entries:
        if entry.is_dir() and not entry.is_symlink():
            if entry.resolve() != apart and not _is_cluster(entry):
                yield from _walk(entry, root, apart)
        elif entry.is_file():
            yield SourceFile(entry, _name(entry.relative_to(root).as_posix()))


def _is_cluster(folder: Path) -> bool:
    return os.path.isfile(folder / "PG_VERSION")  # unlike the method, false for a folder that may not be looked into


def _name(text: str) -> str:
    return uniform(text).replace("\n", " ")
