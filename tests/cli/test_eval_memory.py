"""`condensery eval memory` as people type it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from condensery.evals.memory_results import DialogueRow, Extra, MemoryResult, Missing, Unrecalled, summarize
from condensery.models.embedding import HuggingFaceEmbedder
from condensery.terminal import evaluating_memory
from condensery.terminal.memory_tables import show_memory

Command = Callable[..., Any]

DIALOGUE = {
    "user": "ana",
    "sessions": [[{"message": "I live in Oslo. What does the pass cost?", "assistant": "410 francs."}]],
    "facts": ["lives in Oslo"],
    "questions": [{"ask": "In which town do I live?", "fact": "I live in Oslo."}],
}


@pytest.fixture
def dialogues(tmp_path: Path, shared_embedder: HuggingFaceEmbedder, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a dialogue, and a data directory of a person who must not be disturbed."""
    monkeypatch.setattr("condensery.services.open_embedder", lambda settings: shared_embedder)
    monkeypatch.setenv("CONDENSERY_DATA_DIR", str(tmp_path / "own"))
    folder = tmp_path / "dialogues"
    folder.mkdir()
    (folder / "ana.json").write_text(json.dumps(DIALOGUE))
    return folder


def test_dialogues_are_played_and_shown_and_written(command: Command, dialogues: Path, tmp_path: Path) -> None:
    result = tmp_path / "result.json"
    done = command("eval", "memory", dialogues, "--json", result, "--peer")
    assert done.code == 0
    assert "dialogues: condensery (rules)" in done.out
    assert "not measured: mem0: it needs a capable model" in done.err
    written = MemoryResult.model_validate_json(result.read_text())
    assert written.complete
    (system,) = written.systems
    assert (system.groups["all"].precision, system.groups["all"].recall, system.groups["all"].recall_at_5) == (1, 1, 1)
    assert system.groups["all"].junk_per_100 is None
    assert not (tmp_path / "own").exists()


def test_json_alone_is_all_that_stdout_gets(command: Command, dialogues: Path) -> None:
    done = command("eval", "memory", "--json", dialogues)
    assert json.loads(done.out)["systems"][0]["rows"][0]["user"] == "ana"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["no-such-folder"], "no such folder: no-such-folder"),
        (["DIR", "--json", "no-such-folder/result.json"], "cannot write no-such-folder/result.json: no such folder"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_played(
    command: Command, dialogues: Path, arguments: list[str], reason: str
) -> None:
    done = command("eval", "memory", *(str(dialogues) if each == "DIR" else each for each in arguments))
    assert done.code == 2
    assert reason in done.err


def test_a_memory_that_is_off_cannot_be_measured(
    command: Command, dialogues: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONDENSERY_MEMORY__ENABLED", "false")
    done = command("eval", "memory", dialogues)
    assert done.code == 2
    assert "set memory.enabled = true" in done.err


def test_an_installed_package_asks_for_a_folder(
    command: Command, dialogues: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluating_memory, "DIALOGUES", Path("no-such-folder"))
    done = command("eval", "memory")
    assert done.code == 2
    assert "give a folder of your own" in done.err


def test_misses_are_listed_with_what_they_come_from(capsys: pytest.CaptureFixture[str]) -> None:
    row = DialogueRow(
        user="ana", file="ana.json", language="en", held_out=False, turns=3, free_turns=2, expected=2, right=1, kept=2,
        junk=1, asked=1, recalled=0, askable=1, superseded=1, resolved=0,
        missing=(Missing(fact="I like [tea].", cause="said otherwise", question="I like tea", nearest="tea is nice"),),
        extra=(Extra(text="I am a knight.", cause="not stated", message="I am\na knight"),),
        unrecalled=(Unrecalled(ask="Tea?", fact="I like [tea].", kept=False),),
        unresolved=("I live in Oslo.",), failures=("turn 2: busy",),
    )  # fmt: skip
    hidden = row.model_copy(update={"file": "held_ben.json", "held_out": True, "failures": ()})
    system = summarize("condensery", "rules", [row, hidden], complete=False)
    show_memory(MemoryResult(data="x", complete=False, systems=(system,)), misses=True)
    shown = capsys.readouterr()
    for line in (
        "broken off after 2 dialogues",
        "ana.json: missing, said otherwise: I like [tea]. ← I like tea (kept: tea is nice)",
        "ana.json: too much, not stated: I am a knight. ← I am a knight",
        "ana.json: not recalled, for it is not kept: I like [tea]. ← Tea?",
        "ana.json: still there: I live in Oslo.",
        "condensery: 2 × not stated",
        "condensery: what went wrong in 1 dialogues that are held out is only in --json",
    ):
        assert line in shown.out
    assert "held_ben.json" not in shown.out
    assert "condensery: ana.json, turn 2: busy" in shown.err
