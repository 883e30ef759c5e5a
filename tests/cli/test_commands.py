"""Whole commands against a real database and the real embedding model."""

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]


@pytest.mark.usefixtures("empty_index")
def test_ingesting_reports_what_became_of_every_file(command: Command, notes: Path) -> None:
    first = command("ingest", notes)
    assert (first.code, first.err) == (0, "")
    assert first.out == "2 added, 0 replaced, 0 unchanged, 0 failed; 2 chunks written\n"
    (notes / "boats.md").write_text("# Boats\n\nThe rowing boat seats five people.\n")
    (notes / "broken.pdf").write_bytes(b"no PDF at all")
    second = command("ingest", notes)
    assert second.code == 1
    assert second.out == "0 added, 1 replaced, 1 unchanged, 1 failed; 1 chunks written\n"
    assert second.err.startswith(f"failed: {notes / 'broken.pdf'}: ")


@pytest.mark.usefixtures("empty_index")
def test_files_of_one_unknown_format_are_reported_together(command: Command, notes: Path) -> None:
    for name in ("a.png", "b.png", "c.PNG", "d.zip"):
        (notes / name).write_bytes(b"?")
    lines = command("ingest", notes).err.splitlines()
    assert [line.partition(";")[0] for line in lines] == [
        f"failed: {notes / 'a.png'} and 2 more: unknown format '.png'",
        f"failed: {notes / 'd.zip'}: unknown format '.zip'",
    ]
    assert len(json.loads(command("ingest", notes, "--json").out)["failed"]) == 4


@pytest.mark.parametrize("blank", ["", " "])
def test_a_blank_path_does_not_mean_the_working_directory(command: Command, blank: str) -> None:
    done = command("ingest", blank)
    assert (done.code, done.out) == (2, "")
    assert "the path is blank" in done.err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.usefixtures("empty_index")
@pytest.mark.parametrize(
    "arguments", [["settings", "--json"], ["ask", "What is it?", "--json"], ["ask", "What is it?"]]
)
def test_output_to_a_full_disk_is_one_message(python: list[str], arguments: list[str]) -> None:
    program = "import sys; from condensery.cli import main; sys.argv[0] = 'condensery'; main()"
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*python, program, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (done.returncode, done.stderr) == (1, "error: cannot write the output: no space left\n")


@pytest.mark.usefixtures("empty_index")
def test_ingested_documents_are_listed_with_their_namespace(command: Command, notes: Path) -> None:
    report = json.loads(command("ingest", notes / "lamps.md", "--namespace", "shop", "--json").out)
    assert report["added"] == ["lamps.md"]
    listed = json.loads(command("documents", "--json").out)
    assert [(each["source"], each["namespace"]) for each in listed] == [("lamps.md", "shop")]
    assert "lamps.md" in command("documents").out


@pytest.mark.usefixtures("empty_index")
def test_a_forgotten_document_is_out_of_the_index_and_the_file_stays(command: Command, notes: Path) -> None:
    command("ingest", notes)
    done = command("forget", "lamps.md")
    assert (done.code, done.out, done.err) == (0, "forgot lamps.md\n", "")
    assert [each["source"] for each in json.loads(command("documents", "--json").out)] == ["boats.md"]
    assert (notes / "lamps.md").exists()
    assert command("ask", "What does the green lamp cost?", "--method", "bm25").code == 3


@pytest.mark.usefixtures("empty_index")
def test_a_document_that_is_not_there_cannot_be_forgotten(command: Command, notes: Path) -> None:
    command("ingest", notes, "--namespace", "shop")
    done = command("forget", "lamp.md", "lamps.md")
    assert (done.code, done.out) == (1, "")
    first, second = done.err.splitlines()
    assert first == "there is no document lamp.md in the namespace default; see condensery documents"
    assert second == "there is no document lamps.md in the namespace default; it is in shop: add --namespace"
    assert command("forget", "lamps.md", "--namespace", "shop").code == 0


@pytest.mark.usefixtures("empty_index")
def test_a_rebuild_begins_with_an_empty_index(command: Command, notes: Path) -> None:
    command("ingest", notes, "--namespace", "shop")
    done = command("ingest", notes / "boats.md", "--rebuild")
    assert (done.code, done.err) == (0, "")
    assert done.out == "1 added, 0 replaced, 0 unchanged, 0 failed; 1 chunks written\n"
    listed = json.loads(command("documents", "--json").out)
    assert [(each["source"], each["namespace"]) for each in listed] == [("boats.md", "default")]


@pytest.mark.usefixtures("empty_index")
def test_a_rebuild_is_the_way_to_another_embedding_model(
    command: Command, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command("ingest", notes)
    monkeypatch.setenv("CONDENSERY_EMBEDDINGS__DOCUMENT_PREFIX", "passage: ")
    refused = command("documents")
    assert refused.code == 2
    assert "condensery ingest --rebuild PATH…" in refused.err
    assert command("ingest", notes, "--rebuild").code == 0
    assert command("documents").code == 0


@pytest.mark.usefixtures("empty_index")
@pytest.mark.parametrize("fault", ["path", "model"])
def test_a_rebuild_that_cannot_succeed_leaves_the_index_as_it_was(
    command: Command, notes: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    command("ingest", notes)
    with monkeypatch.context() as patch:
        if fault == "model":
            patch.setenv("CONDENSERY_EMBEDDINGS__MODEL", "/no/such/folder")
        done = command("ingest", notes, *(["nowhere"] if fault == "path" else []), "--rebuild")
    assert (done.code, done.out) == (2, "")
    assert len(json.loads(command("documents", "--json").out)) == 2


@pytest.mark.usefixtures("empty_index")
def test_passages_longer_than_the_model_reads_are_reported_with_the_way_out(
    command: Command, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (notes / "lamps.md").write_text("The green lamp costs 40 francs and is made of brass. " * 80)
    with monkeypatch.context() as patch:
        patch.setenv("CONDENSERY_INGEST__CHUNK_CHARS", "8000")
        long = command("ingest", notes)
    assert long.code == 0
    assert long.err.startswith("warning: lamps.md: some passages are longer")
    assert "ingest.chunk_chars" in long.err
    assert command("ingest", notes).err == ""


@pytest.mark.usefixtures("empty_index")
def test_a_namespace_that_is_no_name_is_a_configuration_error(command: Command, notes: Path) -> None:
    done = command("ingest", notes, "--namespace", "a b")
    assert (done.code, done.out) == (2, "")
    assert "ingest.namespace" in done.err


@pytest.mark.usefixtures("empty_index")
def test_an_empty_index_answers_nothing_and_says_how_to_fill_it(command: Command) -> None:
    assert "condensery ingest PATH" in command("documents").err
    done = command("ask", "What does the green lamp cost?")
    assert done.code == 3
    assert "condensery ingest PATH" in done.err


@pytest.mark.usefixtures("empty_index")
def test_the_answer_comes_with_its_sources(command: Command, notes: Path) -> None:
    command("ingest", notes)
    done = command("ask", "What", "does", "the", "green", "lamp", "cost?")
    assert (done.code, done.err) == (0, "")
    assert "The green lamp costs 40 francs." in done.out
    assert done.out.endswith("Sources\n[1] lamps.md\n")


@pytest.mark.usefixtures("corpus_index")
def test_json_is_the_turn_and_nothing_else(command: Command) -> None:
    done = command("ask", "-", "--json", "--conversation", "c", stdin="When does the first car go up on weekdays?\n")
    turn = json.loads(done.out)
    assert done.code == 0
    assert turn["message"] == "When does the first car go up on weekdays?"
    assert turn["key"]["conversation_id"] == "c"
    assert turn["outcome"] == "answered"


@pytest.mark.usefixtures("corpus_index")
def test_a_follow_up_shows_what_was_searched_for(command: Command) -> None:
    command("ask", "When does the first car go up on weekdays?", "--conversation", "c")
    done = command("ask", "And on Sundays?", "--conversation", "c")
    assert done.out.startswith("Searched for: ")
    assert "first car" in done.out.splitlines()[0]


@pytest.mark.usefixtures("corpus_index")
def test_an_answer_is_explained_by_rankings_and_times(command: Command) -> None:
    shown = command("ask", "How much is a ticket for a dog?", "--explain").out
    _, results, stages = re.split("Results|Stages", shown)
    header = next(line for line in results.splitlines() if "final" in line)
    assert all(name in header for name in ("semantic", "bm25", "fused", "source", "begins"))
    assert "tariffs.md" in results
    assert re.search(r"1 · \d\.\d", results)
    assert all(name in stages for name in ("condense", "retrieve", "answer", "ms", "note"))


@pytest.mark.usefixtures("empty_index")
@pytest.mark.parametrize(("option", "name"), [("--engine", "expand_context"), ("--method", "hybrid")])
@pytest.mark.parametrize("asking", [["ask", "Why?"], ["chat"]], ids=["ask", "chat"])
def test_an_unknown_name_lists_the_choices(command: Command, asking: list[str], option: str, name: str) -> None:
    done = command(*asking, option, "nonsense")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: no ")
    assert name in done.err
    assert done.err.count("\n") == 1


@pytest.mark.usefixtures("corpus_index")
def test_a_model_that_cannot_be_reached_still_leaves_a_quoted_answer(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONDENSERY_LLM__MODEL", "openai:http://127.0.0.1:9/v1#none")
    done = command("ask", "How much is a ticket for a dog?")
    assert done.code == 0
    assert "tariffs.md" in done.out
    assert "warning: degraded: " in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("blank", [["ask", "  "], ["ask", "-"]], ids=["argument", "stdin"])
def test_a_blank_question_is_a_wrong_command_line(command: Command, blank: list[str]) -> None:
    done = command(*blank, stdin=" \n")
    assert (done.code, done.out) == (2, "")
    assert "the question is blank" in done.err


def test_a_wrong_setting_is_one_message_without_a_traceback(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONDENSERY_RETRIEVAL__TOP_K", "many")
    done = command("ask", "Why?")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: ")
    assert "retrieval.top_k" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("by", ["option", "environment"])
def test_debugging_shows_the_traceback_too(command: Command, monkeypatch: pytest.MonkeyPatch, by: str) -> None:
    monkeypatch.setenv("CONDENSERY_RETRIEVAL__TOP_K", "many")
    if by == "environment":
        monkeypatch.setenv("CONDENSERY_DEBUG", "1")
    done = command("settings", *(["--debug"] if by == "option" else []))
    assert done.code == 2
    assert "Traceback" in done.err
    assert "\nerror: " in done.err


def test_a_fault_of_ours_is_named_by_its_kind(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise KeyError("secret of a library")

    monkeypatch.setattr("condensery.settings.load_settings", broken)
    done = command("settings")
    assert done.code == 1
    assert done.err == "error: something went wrong inside Condensery (KeyError); --debug shows where\n"


def test_settings_tell_their_source_and_keep_secrets(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONDENSERY_LLM__API_KEY", "sk-very-secret")
    monkeypatch.setenv("CONDENSERY_RETRIEVAL__TOP_K", "7")
    listed, rows = command("settings", "--data-dir", "elsewhere").out, json.loads(command("settings", "--json").out)
    assert "sk-very-secret" not in listed + json.dumps(rows)
    assert rows["retrieval.top_k"] == {"value": "7", "source": "environment variable CONDENSERY_RETRIEVAL__TOP_K"}
    assert any(line.split() == ["data_dir", "elsewhere", "argument"] for line in listed.splitlines())


def test_an_agent_is_drawn_to_stdout_or_to_a_file(command: Command, tmp_path: Path) -> None:
    assert command("draw", "rag").out.startswith("flowchart")
    done = command("draw", "rag", "--format", "svg", "--output", tmp_path / "rag.svg")
    assert (done.code, done.out) == (0, "")
    assert (tmp_path / "rag.svg").read_text().rstrip().endswith("</svg>")


@pytest.mark.parametrize(("agent", "output"), [("nobody", "a.svg"), ("rag", "missing/a.svg")])
def test_a_drawing_that_cannot_be_made_says_why(command: Command, tmp_path: Path, agent: str, output: str) -> None:
    done = command("draw", agent, "--output", tmp_path / output)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: no agent 'nobody'" if agent == "nobody" else "error: cannot write ")
