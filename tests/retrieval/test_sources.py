"""Which files are meant, and what each is called."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from condensery.retrieval.sources import find_sources


def write(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("text")


def names(*paths: Path) -> list[str]:
    return [file.source for file in find_sources(list(paths)) if not file.problem]


def problems(*paths: Path) -> dict[str, str]:
    return {file.source: file.problem for file in find_sources(list(paths)) if file.problem}


def test_files_of_a_folder_are_named_by_their_path_in_it(tmp_path: Path) -> None:
    write(tmp_path, "docs/b.md", "docs/a.md", "docs/more/c.md")
    assert names(tmp_path / "docs") == ["a.md", "b.md", "more/c.md"]


def test_names_do_not_depend_on_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "docs/a.md")
    monkeypatch.chdir(tmp_path)
    from_above = names(Path("docs"))
    monkeypatch.chdir(tmp_path / "docs")
    assert from_above == names(Path(".")) == names(tmp_path / "docs") == ["a.md"]


def test_a_file_given_by_itself_is_named_by_its_file_name(tmp_path: Path) -> None:
    write(tmp_path, "docs/O'Neil.pdf")
    assert names(tmp_path / "docs" / "O'Neil.pdf") == ["O'Neil.pdf"]


def test_hidden_files_and_folders_are_left_out_of_walks(tmp_path: Path) -> None:
    write(tmp_path, "a.md", ".hidden.md", ".git/config.txt")
    assert names(tmp_path) == ["a.md"]


def test_the_data_directory_and_postgres_clusters_are_left_out_of_walks(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "data/models/b.txt", "old/postgres/PG_VERSION", "old/postgres/base/c.txt", "old/d.md")
    found = [file.source for file in find_sources([tmp_path], tmp_path / "old" / ".." / "data")]
    assert found == ["a.md", "old/d.md"]


def test_a_postgres_cluster_given_by_itself_is_a_problem(tmp_path: Path) -> None:
    write(tmp_path, "postgres/PG_VERSION", "postgres/a.txt")
    assert list(problems(tmp_path / "postgres")) == ["postgres"]
    assert names(tmp_path / "postgres") == []


def test_a_hidden_file_given_by_itself_is_meant(tmp_path: Path) -> None:
    write(tmp_path, ".notes.md")
    assert names(tmp_path / ".notes.md") == [".notes.md"]


def test_a_file_met_twice_counts_once(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    assert names(tmp_path, tmp_path / "a.md", tmp_path / ".." / tmp_path.name) == ["a.md"]


def test_two_files_of_one_name_are_a_problem_of_the_second(tmp_path: Path) -> None:
    write(tmp_path, "one/readme.md", "two/readme.md")
    assert names(tmp_path / "one", tmp_path / "two") == ["readme.md"]
    assert str(tmp_path / "one") in problems(tmp_path / "one", tmp_path / "two")["readme.md"]


def test_a_path_that_does_not_exist_is_a_problem(tmp_path: Path) -> None:
    assert problems(tmp_path / "gone.md") == {"gone.md": "no such file or folder"}


def test_a_loop_of_links_ends(tmp_path: Path) -> None:
    write(tmp_path, "docs/a.md")
    (tmp_path / "docs" / "again").symlink_to(tmp_path / "docs")
    assert names(tmp_path / "docs") == ["a.md"]


def test_a_folder_that_cannot_be_listed_is_a_problem_and_the_rest_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "a.md", "locked/b.md")
    list_folder = Path.iterdir

    def refuse(path: Path) -> Iterator[Path]:
        if path.name == "locked":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return list_folder(path)

    monkeypatch.setattr(Path, "iterdir", refuse)  # root, who runs many test suites, may list everything
    assert names(tmp_path) == ["a.md"]
    assert problems(tmp_path) == {"locked": "cannot be listed: Permission denied"}


def test_spaces_of_a_name_are_kept(tmp_path: Path) -> None:
    write(tmp_path, "two  spaces.md")
    assert names(tmp_path) == ["two  spaces.md"]


def test_a_name_that_is_no_unicode_gets_one_that_is(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.md")).write_text("text")
    (name,) = names(tmp_path)
    assert name.encode() == "caf\ufffd.md".encode()
