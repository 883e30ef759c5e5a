"""Whole commands against a real database and the real embedding model."""

import json
import re
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
def test_ingested_documents_are_listed_with_their_namespace(command: Command, notes: Path) -> None:
    report = json.loads(command("ingest", notes / "lamps.md", "--namespace", "shop", "--json").out)
    assert report["added"] == ["lamps.md"]
    listed = json.loads(command("documents", "--json").out)
    assert [(each["source"], each["namespace"]) for each in listed] == [("lamps.md", "shop")]
    assert "lamps.md" in command("documents").out


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
    assert "1 · 0.0" in results
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
    assert "warning: degraded: generated answer" in done.err
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
