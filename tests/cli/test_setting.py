"""`condensery set` and `unset`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]


@pytest.mark.usefixtures("empty_index")
def test_a_setting_is_set_shown_with_its_source_and_unset(command: Command) -> None:
    done = command("set", "retrieval.top_k", "8", "condense.enabled", "off")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "retrieval.top_k = 8, database (was 5)",
        "condense.enabled = False, database (was True)",
    ]
    rows = json.loads(command("settings", "--json").out)
    assert rows["retrieval.top_k"] == {"value": "8", "source": "database"}
    assert any(line.split() == ["retrieval.top_k", "8", "database"] for line in command("settings").out.splitlines())
    assert command("unset", "retrieval.top_k").out == "retrieval.top_k = 5, default (was 8)\n"
    assert json.loads(command("settings", "--json").out)["retrieval.top_k"]["source"] == "default"


@pytest.mark.usefixtures("empty_index")
def test_a_change_that_breaks_a_rule_is_refused_with_it_and_one_that_does_not_is_taken(command: Command) -> None:
    done = command("set", "retrieval.top_k", "40")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: nothing was changed:\n  retrieval.candidates must be at least retrieval.top_k")
    assert command("set", "retrieval.top_k", "40", "retrieval.candidates", "80").code == 0
    assert command("unset", "retrieval.candidates").code == 2
    assert command("unset", "retrieval.candidates", "retrieval.top_k").code == 0


@pytest.mark.usefixtures("empty_index")
def test_what_is_set_holds_for_the_next_question(command: Command, notes: Path) -> None:
    command("ingest", notes)
    command("set", "retrieval.method", "bm25")
    assert json.loads(command("ask", "What does the green lamp cost?", "--json").out)["method"] == "bm25"
    asked = command("ask", "What does the green lamp cost?", "--json", "--method", "semantic")
    assert json.loads(asked.out)["method"] == "semantic"


@pytest.mark.usefixtures("empty_index")
def test_a_value_may_begin_with_a_minus(command: Command) -> None:
    assert command("set", "retrieval.min_similarity", "-0.5").out.startswith("retrieval.min_similarity = -0.5, ")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["retrieval.top_k"], "retrieval.top_k has no value"),
        (["retrieval.top_k", "3", "retrieval.top_k", "4"], "retrieval.top_k is given twice"),
    ],
)
def test_names_and_values_come_in_pairs(command: Command, words: list[str], told: str) -> None:
    done = command("set", *words)
    assert done.code == 2
    assert told in done.err


def test_without_arguments_set_tells_what_can_be_changed_and_makes_no_database(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONDENSERY_DATA_DIR", str(tmp_path / "data"))
    done = command("set")
    assert (done.code, done.err) == (0, "")
    assert "retrieval.top_k " in done.out.partition("Not while Condensery runs:")[0]
    assert "llm.model " in done.out.partition("Not while Condensery runs:")[2]
    assert command("settings").code == 0
    assert not (tmp_path / "data").exists()


def test_settings_are_shown_when_the_database_is_out_of_reach(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONDENSERY_DATABASE_URL", "postgresql://u:very-secret@127.0.0.1:1/none")
    done = command("settings")
    assert done.code == 0
    assert "retrieval.top_k" in done.out
    assert done.err.startswith("warning: without what `condensery set` has stored: cannot reach the database")
    assert "very-secret" not in done.out + done.err
