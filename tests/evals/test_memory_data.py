"""Folders of dialogues, and those of the repository."""

import json
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from condensery.errors import ConfigError
from condensery.evals.memory_data import Dialogue, read_dialogues
from condensery.evals.memory_scoring import free_turns

FIXTURES = Path(__file__).parents[2] / "evals" / "fixtures" / "memory"
DIALOGUE: dict[str, Any] = {
    "user": "ana",
    "sessions": [
        [
            {"message": "I live in Oslo. What does the pass cost?", "assistant": "410 francs."},
            {"message": "And for children?", "assistant": "80 francs.", "context": "I live in Rome."},
        ],
        [{"message": "I live in Bergen now, is it valid there?", "assistant": "No."}],
    ],
    "facts": ["I live in Bergen."],
    "superseded": ["I live in Oslo."],
    "questions": [{"ask": "Where do I live?", "fact": "lives in Bergen"}],
}
WriteDialogue = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> WriteDialogue:
    """Writes a folder with one file."""

    def write_(given: Any, name: str = "one.json") -> Path:
        text = given if isinstance(given, str) else json.dumps(given, indent=2)
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path

    return write_


def changed(**values: Any) -> dict[str, Any]:
    return deepcopy(DIALOGUE) | values


def test_a_dialogue_is_read_with_its_sessions(write: WriteDialogue) -> None:
    (dialogue,) = read_dialogues(write(DIALOGUE))
    assert [len(session) for session in dialogue.sessions] == [2, 1]
    assert dialogue.language == "en"
    assert not dialogue.held_out
    assert dialogue.turns[1].sent == "<context>I live in Rome.</context>\nAnd for children?"
    assert dialogue.turns[0].sent == "I live in Oslo. What does the pass cost?"


def test_a_file_may_hold_a_list_and_its_name_tells_what_is_held_out(write: WriteDialogue) -> None:
    dialogues = read_dialogues(write([DIALOGUE, changed(user="ben")], "held_two.json"))
    assert [dialogue.user for dialogue in dialogues] == ["ana", "ben"]
    assert all(dialogue.held_out for dialogue in dialogues)


def test_turns_without_labels_state_what_their_messages_carry(write: WriteDialogue) -> None:
    (dialogue,) = read_dialogues(write(DIALOGUE))
    assert [dialogue.states(number) for number in range(3)] == [("I live in Oslo.",), (), ("I live in Bergen.",)]
    assert free_turns(dialogue) == {1}


def test_labels_count_where_any_turn_has_them(write: WriteDialogue) -> None:
    given = deepcopy(DIALOGUE)
    given["sessions"][1][0]["states"] = ["I live in Bergen."]
    (dialogue,) = read_dialogues(write(given))
    assert free_turns(dialogue) == {0, 1}


@pytest.mark.parametrize(
    ("given", "line", "reason"),
    [
        ("{", 1, "no JSON"),
        ("[" * 100_000, 1, "nested too deeply"),
        (changed(user=""), 2, "user: string should have at least 1 character"),
        (changed(sessions=[]), 2, "sessions: list should have at least 1 item"),
        (changed(sessions=[[{"assistant": "Yes."}]]), 2, "sessions.0.0.message: field required"),
        (changed(language="xx"), 2, "language: input should be 'en', 'de', 'fr' or 'it'"),
        ([DIALOGUE, 7], 3, "the object: input should be a valid dictionary"),
        (changed(facts=["I live in Rome."]), 2, "the fact 'lives in Bergen' is none of facts"),
        (changed(superseded=["i live in bergen"]), 2, "'i live in bergen' is among facts and among superseded"),
        (changed(sessions=[[{"message": "Hi", "states": ["I like tea."]}]]), 2, "states: 'I like tea.' is none of"),
        ([DIALOGUE, DIALOGUE], 37, "user 'ana' is that of"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(write: WriteDialogue, given: Any, line: int, reason: str) -> None:
    folder = write(given)
    with pytest.raises(ConfigError) as error:
        read_dialogues(folder)
    assert reason in str(error.value)
    assert str(error.value).startswith(f"{folder / 'one.json'}:{line}: ")


def test_a_folder_without_dialogues_says_what_it_should_hold(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"it holds no files \*\.json of dialogues"):
        read_dialogues(tmp_path)
    with pytest.raises(ConfigError, match="no such folder"):
        read_dialogues(tmp_path / "none")


@pytest.fixture(scope="module")
def ours() -> tuple[Dialogue, ...]:
    return read_dialogues(FIXTURES)


def test_the_dialogues_of_the_repository_are_enough(ours: tuple[Dialogue, ...]) -> None:
    languages = Counter(dialogue.language for dialogue in ours)
    assert len(ours) >= 48
    assert languages["de"] >= 10
    assert languages["fr"] >= 10
    assert languages["it"] >= 4
    assert sum(dialogue.held_out for dialogue in ours) * 2 == len(ours)
    assert sum(len(free_turns(dialogue)) for dialogue in ours) >= 100
    assert sum(bool(turn.context) for dialogue in ours for turn in dialogue.turns) >= 25
    assert sum(len(dialogue.superseded) for dialogue in ours) >= 8


def test_no_fact_of_a_dialogue_is_only_in_its_documents_or_replies(ours: tuple[Dialogue, ...]) -> None:
    for dialogue in ours:
        stated = {fact for number in range(len(dialogue.turns)) for fact in dialogue.states(number)}
        assert stated == set(dialogue.told), dialogue.place
