"""Small folders of data, and how to open them."""

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from condensery.models.embedding import HuggingFaceEmbedder

PASSAGES = {
    "lamp": "The green lamp in the hall costs forty francs. It is made of brass and weighs two kilograms.",
    "boat": "The rowing boat on the lake seats four people. It was built of larch wood.",
    "goat": "Goats graze above the village from June to September.",
    "tram": "The tram to the harbour leaves every ten minutes from the market square.",
}
HISTORY = [
    {"role": "user", "content": "How much does the green lamp cost?"},
    {"role": "assistant", "content": "The green lamp costs forty francs."},
]
TURNS = [
    {"id": "1", "kind": "Follow-up", "history": HISTORY, "message": "What is it made of?", "relevant": ["lamp"]},
    {
        "id": "2",
        "kind": "Clarification",
        "history": HISTORY,
        "message": "How many people does the rowing boat seat?",
        "relevant": ["boat"],
    },
]
CONVERSATION: dict[str, Any] = {
    "name": "lamps",
    "turns": [
        {
            "message": "How much does the green lamp cost?",
            "kind": "standalone",
            "assistant": "The green lamp costs forty francs.",
            "relevant": [{"source": "lamps.md", "fact": "The green lamp costs\nforty francs."}],
        },
        {
            "message": "What is it made of?",
            "kind": "pronoun",
            "assistant": "It is made of brass.",
            "relevant": [{"source": "lamps.md", "fact": "It is made of brass."}],
        },
        {"message": "Thanks!", "kind": "standalone", "assistant": "You are welcome.", "relevant": []},
        {
            "message": "How many people does the rowing boat seat?",
            "kind": "topic shift",
            "assistant": "Four.",
            "relevant": [{"source": "boats.md", "fact": "seats four people"}],
        },
    ],
}

Write = Callable[..., Path]


@pytest.fixture
def one_embedder(shared_embedder: HuggingFaceEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every app of the test uses the embedding model that is loaded already."""
    monkeypatch.setattr("condensery.services.open_embedder", lambda settings: shared_embedder)


@pytest.fixture(scope="session")
def cluster() -> Iterator[Path]:
    """A folder for `--keep`: its Postgres is made once, and each test's data replaces what was in it."""
    path = Path(tempfile.mkdtemp(prefix="cnd-"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def turns_folder(tmp_path: Path) -> Write:
    """Writes a folder of passages and turns."""

    def write(passages: dict[str, str] | None = None, turns: list[Any] | None = None) -> Path:
        folder = tmp_path / "turns"
        folder.mkdir(exist_ok=True)
        given = [{"id": name, "text": text} for name, text in (passages or PASSAGES).items()]
        for name, objects in (("passages.jsonl", given), ("turns.jsonl", turns or TURNS)):
            (folder / name).write_text("".join(f"{json.dumps(each)}\n" for each in objects), encoding="utf-8")
        return folder

    return write


@pytest.fixture
def chat_folder(tmp_path: Path) -> Write:
    """Writes a folder of a corpus and one conversation, laid out as people lay out JSON."""

    def write(conversation: dict[str, Any] | None = None) -> Path:
        folder = tmp_path / "chat"
        (folder / "corpus" / "rooms").mkdir(parents=True, exist_ok=True)
        (folder / "conversations").mkdir(exist_ok=True)
        (folder / "corpus" / "lamps.md").write_text(
            "# Lamps\n\nThe green lamp costs  forty francs.\nIt is made of brass.\n\n## Care\n\nOil it in May.\n"
        )
        (folder / "corpus" / "rooms" / "boats.md").write_text("# Boats\n\nThe rowing boat seats four people.\n")
        text = json.dumps(conversation or CONVERSATION, indent=2, ensure_ascii=False)
        (folder / "conversations" / "lamps.json").write_text(text, encoding="utf-8")
        return folder

    return write
