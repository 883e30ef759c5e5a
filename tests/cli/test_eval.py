"""`condensery eval` as people type it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from condensery.evals.results import Result
from condensery.models.embedding import HuggingFaceEmbedder
from condensery.terminal import evaluating
from condensery.terminal.cli_eval import json_named
from condensery.terminal.eval_tables import times

Command = Callable[..., Any]
COMMANDS = ("turns", "chat", "retrieval", "latency", "memory", "plot")

PASSAGES = [
    {"id": "lamp", "text": "The green lamp costs forty francs. It is made of brass."},
    {"id": "boat", "text": "The rowing boat seats four people. It was built of larch wood."},
]
HISTORY = [
    {"role": "user", "content": "How much does the green lamp cost?"},
    {"role": "assistant", "content": "The green lamp costs forty francs."},
]
TURNS = [
    {"id": "1", "kind": "Follow-up", "history": HISTORY, "message": "What is it made of?", "relevant": ["lamp"]},
    {"id": "2", "kind": "Shift", "history": HISTORY, "message": "Who built the boat?", "relevant": ["boat"]},
]


@pytest.fixture
def turns(tmp_path: Path, shared_embedder: HuggingFaceEmbedder, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of passages and turns, and a data directory of a person who must not be disturbed."""
    monkeypatch.setattr("condensery.services.open_embedder", lambda settings: shared_embedder)
    monkeypatch.setenv("CONDENSERY_DATA_DIR", str(tmp_path / "own"))
    folder = tmp_path / "turns"
    folder.mkdir()
    for name, objects in (("passages.jsonl", PASSAGES), ("turns.jsonl", TURNS)):
        (folder / name).write_text("".join(f"{json.dumps(each)}\n" for each in objects))
    return folder


def test_turns_are_shown_as_tables_and_written_as_json_and_as_a_picture(
    command: Command, turns: Path, tmp_path: Path
) -> None:
    result, picture, again = tmp_path / "result.json", tmp_path / "result.svg", tmp_path / "again.svg"
    done = command("eval", "turns", turns, "--json", result, "--plot", picture)
    assert done.code == 0
    assert "turns: 2 turns" in done.out
    assert all(engine in done.out for engine in ("simple", "expand_context"))
    assert "not measured: condense_context: it needs a capable model" in done.err
    written = json.loads(result.read_text())
    assert written["complete"]
    assert [row["case"] for row in written["configurations"][0]["rows"]] == ["1", "2"]
    assert written["about"]["packages"]["condensery"]
    assert not (tmp_path / "own").exists()
    assert command("eval", "plot", result, "--output", again).code == 0
    assert again.read_bytes() == picture.read_bytes()
    words = " ".join(ElementTree.parse(picture).getroot().itertext())  # noqa: S314
    assert "nDCG@10" in words
    assert "expand_context" in words


def test_json_alone_is_all_that_stdout_gets(command: Command, turns: Path) -> None:
    arguments = ("--engine", "expand_context", "--method", "bm25")
    found = json.loads(command("eval", "turns", "--json", turns, *arguments).out)
    assert [(each["engine"], each["method"]) for each in found["configurations"]] == [
        ("simple", "bm25"),
        ("expand_context", "bm25"),
    ]
    assert found["configurations"][1]["rows"][0]["ranks"] == [1]


def test_the_ladder_of_retrieval_names_what_cannot_run(
    command: Command, turns: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONDENSERY_RERANK__MODEL", "no-such/cross-encoder")
    done = command("eval", "retrieval", turns, "--engine", "simple", "--json")
    found = json.loads(done.out)
    assert [each["method"] for each in found["configurations"]] == ["semantic", "bm25", "hybrid"]
    assert [each["name"] for each in found["skipped"]] == [
        "reranked/hybrid",
        "hyde/semantic",
        "hyde/hybrid",
        "reranked/hyde/hybrid",
    ]


def test_waits_are_measured_on_turns_one_at_a_time(command: Command, turns: Path) -> None:
    done = command("eval", "latency", turns, "--engine", "expand_context", "--json")
    found = json.loads(done.out)
    assert set(found["latency"]) == {"simple", "expand_context"}
    assert {"p50", "p95"} == set(found["latency"]["expand_context"]["first_token"])
    shown = [str(column.header) for column in times(Result.model_validate(found)).columns]
    assert {"read ahead", "before search", "first token"} <= set(shown)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--engine", "condens"], "no chat engine 'condens'; choose one of condense_context"),
        (["--method", "hybrd"], "no retrieval method 'hybrd'; choose one of bm25"),
        (["--peer"], "the peer cannot run: it needs a capable model"),
        (["--json", "no/such/folder/x.json"], "cannot write no/such/folder/x.json: no such folder"),
        (["--plot", "x.gif"], "cannot draw 'x.gif'; its name must end in .svg, .png, .pdf"),
    ],
)
def test_wrong_choices_are_refused_in_words(command: Command, turns: Path, arguments: list[str], told: str) -> None:
    done = command("eval", "turns", turns, *arguments)
    assert done.code == 2
    assert done.err.startswith(f"error: {told}")
    assert done.out == ""


def test_an_index_is_never_kept_where_the_own_documents_are(command: Command, turns: Path, tmp_path: Path) -> None:
    done = command("eval", "turns", turns, "--keep", tmp_path / "own")
    assert done.code == 2
    assert "is where your own documents are" in done.err


def test_data_of_the_other_form_names_its_command(command: Command, turns: Path) -> None:
    done = command("eval", "chat", turns)
    assert (done.code, done.err) == (2, f"error: {turns} is data for `condensery eval turns`\n")


def test_a_file_that_is_no_result_cannot_be_drawn(command: Command, turns: Path, tmp_path: Path) -> None:
    done = command("eval", "plot", turns / "turns.jsonl", "--output", tmp_path / "x.svg")
    assert done.code == 2
    assert "turns.jsonl is no result of `condensery eval" in done.err


def test_without_the_repository_a_folder_is_asked_for(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluating, "FIXTURES", tmp_path / "nowhere")
    done = command("eval", "chat")
    assert done.code == 2
    assert "give a folder of your own" in done.err


def test_the_conversations_of_the_repository_are_data() -> None:
    data = evaluating.data_of(evaluating.Choice("chat", None))
    assert len({case.conversation for case in data.cases}) >= 30
    assert len(data.cases) >= 90


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_teaches_by_examples(command: Command, name: str) -> None:
    done = command("eval", name, "--help")
    assert done.code == 0
    assert f"condensery eval {name}" in " ".join(done.out.partition("Examples:")[2].split())


@pytest.mark.parametrize("name", ["turns", "chat"])
def test_help_shows_the_form_of_the_data(command: Command, name: str) -> None:
    assert '"relevant": [' in " ".join(command("eval", name, "--help").out.split())


def test_a_bare_json_means_stdout(tmp_path: Path) -> None:
    folder = str(tmp_path)
    assert json_named([]) == []
    assert json_named(["--json"]) == ["--json", "-"]
    assert json_named([folder, "--json", "--peer"]) == [folder, "--json", "-", "--peer"]
    assert json_named(["--json", folder]) == ["--json", "-", folder]
    assert json_named(["--json", "-", folder]) == ["--json", "-", folder]
    assert json_named(["--json", "x.json"]) == ["--json", "x.json"]
