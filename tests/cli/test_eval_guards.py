"""`condensery eval guards` as people type it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from condensery.evals.guards import GuardResult
from condensery.models.embedding import HuggingFaceEmbedder

Command = Callable[..., Any]

QUESTIONS = [
    {"question": "What does the green lamp cost?", "language": "en", "label": "answerable"},
    {"question": "Who won the football world cup in 1998?", "language": "en", "label": "out_of_scope"},
    {
        "question": "What does the green lamp cost, and when does the shop open?",
        "label": "answerable",
        "sources": ["lamps.md", "shop.md"],
    },
]


@pytest.fixture
def data(tmp_path: Path, shared_embedder: HuggingFaceEmbedder, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with documents and questions about them."""
    monkeypatch.setattr("condensery.services.open_embedder", lambda settings: shared_embedder)
    monkeypatch.setenv("CONDENSERY_DATA_DIR", str(tmp_path / "own"))
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "lamps.md").write_text("# Lamps\n\nThe green lamp costs forty francs. It is made of brass.")
    (docs / "shop.md").write_text("# The shop\n\nThe shop opens at nine in the morning, on Mondays at ten.")
    (tmp_path / "q.jsonl").write_text("\n".join(map(json.dumps, QUESTIONS)))
    return tmp_path


def test_questions_are_asked_and_shown_and_written(command: Command, data: Path) -> None:
    result = data / "result.json"
    done = command("eval", "guards", data / "q.jsonl", "--documents", data / "docs", "--json", result, "--misses")
    assert done.code == 0, done.err
    assert "q: insufficient" in done.out
    assert "all documents found, of 1 questions" in done.out
    written = GuardResult.model_validate_json(result.read_text())
    assert written.complete
    assert (written.refused["all"].precision, written.refused["all"].recall) == (1, 1)
    assert written.documents is not None
    assert written.documents.with_hops == 1
    assert not (data / "own").exists()


def test_json_alone_is_all_that_stdout_gets(command: Command, data: Path) -> None:
    done = command("eval", "guards", data / "q.jsonl", "--documents", data / "docs", "--json")
    assert GuardResult.model_validate_json(done.out).data == "q"


def test_a_file_that_is_no_list_of_questions_is_refused_at_once(command: Command, data: Path) -> None:
    (data / "q.jsonl").write_text('{"question": "q", "label": "perhaps"}')
    done = command("eval", "guards", data / "q.jsonl")
    assert done.code == 2
    assert "q.jsonl:1: label" in done.err
