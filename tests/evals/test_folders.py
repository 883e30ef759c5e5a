"""Folders of data: what is read from them, and what people are told about bad ones."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from condensery.errors import ConfigError
from condensery.evals.folders import read_chat, read_folder, read_turns
from condensery.tests.evals.conftest import CONVERSATION, HISTORY, PASSAGES, TURNS, Write


def refusal(folder: Path) -> str:
    with pytest.raises(ConfigError) as refused:
        read_folder(folder)
    return str(refused.value)


def test_turns_are_read_with_their_history_as_exchanges(turns_folder: Write) -> None:
    data = read_folder(turns_folder())
    assert data.form == "turns"
    assert [passage.id for passage in data.passages] == list(PASSAGES)
    first = data.cases[0]
    assert (first.kind, first.message) == ("Follow-up", "What is it made of?")
    assert [(each.message, each.answer) for each in first.history] == [(HISTORY[0]["content"], HISTORY[1]["content"])]
    assert [wanted.source for wanted in first.wanted] == ["lamp"]


def test_messages_of_one_side_in_a_row_are_one_and_a_missing_side_is_blank(turns_folder: Write) -> None:
    sides = [("assistant", "Hello."), ("user", "a"), ("user", "b"), ("assistant", "c"), ("system", "no"), ("user", "d")]
    history = [{"role": role, "content": content} for role, content in sides]
    data = read_turns(turns_folder(turns=[TURNS[0] | {"history": history}]))
    assert [(each.message, each.answer) for each in data.cases[0].history] == [
        ("", "Hello."),
        ("a\n\nb", "c"),
        ("d", ""),
    ]


def test_a_turn_that_looks_for_nothing_is_left_out(turns_folder: Write) -> None:
    data = read_turns(turns_folder(turns=[TURNS[0], TURNS[1] | {"relevant": []}]))
    assert [case.name for case in data.cases] == ["1"]


def test_every_turn_of_a_conversation_has_the_scripted_turns_before_it(chat_folder: Write) -> None:
    data = read_folder(chat_folder())
    assert data.form == "chat"
    assert [(case.name, case.kind, len(case.history)) for case in data.cases] == [
        ("lamps #1", "standalone", 0),
        ("lamps #2", "pronoun", 1),
        ("lamps #4", "topic_shift", 3),
    ]
    assert data.cases[2].history[1].answer == "It is made of brass."
    lines = (data.folder / "conversations" / "lamps.json").read_text().splitlines()
    assert all(case.message in lines[case.place.line - 1] for case in data.cases)


def test_a_folder_that_is_not_there_or_is_no_data_says_what_data_is(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none") == f"no such folder: {tmp_path / 'none'}"
    assert "passages.jsonl and turns.jsonl" in refusal(tmp_path)
    assert "conversations/*.json" in refusal(tmp_path)


@pytest.mark.parametrize("name", ["passages.jsonl", "turns.jsonl"])
def test_a_missing_file_of_turns_is_named(turns_folder: Write, name: str) -> None:
    folder = turns_folder()
    (folder / name).unlink()
    assert refusal(folder).startswith(f"{folder} has no {name};")


def test_a_missing_corpus_is_named(chat_folder: Write) -> None:
    folder = chat_folder()
    (folder / "corpus").rename(folder / "documents")
    assert refusal(folder).startswith(f"{folder} has no corpus;")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"id": "x", "text": ', "no JSON: "),
        ('["x"]', "the object: "),
        ('{"id": "x"}', "text: field required"),
        ('{"id": "x", "text": ""}', "text: string should have at least 1 character"),
        ('{"id": "boat", "text": "Another."}', "a second passage with the id 'boat'"),
    ],
)
def test_a_bad_passage_is_named_by_file_and_line(turns_folder: Write, line: str, reason: str) -> None:
    folder = turns_folder()
    with (folder / "passages.jsonl").open("a") as file:
        file.write(f"\n{line}\n")
    assert refusal(folder).startswith(f"{folder / 'passages.jsonl'}:{len(PASSAGES) + 2}: {reason}")


def test_a_relevant_passage_that_is_not_there_is_named_by_file_and_line(turns_folder: Write) -> None:
    folder = turns_folder(turns=[TURNS[0], TURNS[1] | {"relevant": ["boat", "ship"]}])
    assert refusal(folder) == f"{folder / 'turns.jsonl'}:2: relevant 'ship' is no passage of passages.jsonl"


def test_turns_without_anything_to_find_are_no_data(turns_folder: Write) -> None:
    assert "no turn in it has anything to find" in refusal(turns_folder(turns=[TURNS[0] | {"relevant": []}]))


def test_bad_json_of_a_conversation_is_named_by_file_and_line(chat_folder: Write) -> None:
    folder = chat_folder()
    file = folder / "conversations" / "lamps.json"
    file.write_text('{\n  "name": "lamps",\n  "turns": [\n}\n')
    assert refusal(folder).startswith(f"{file}:4: no JSON: ")


def test_json_without_end_is_refused_in_words(chat_folder: Write, turns_folder: Write) -> None:
    folder = chat_folder()
    (folder / "conversations" / "lamps.json").write_text("[" * 100_000)
    assert "nested too deeply" in refusal(folder)
    folder = turns_folder()
    (folder / "passages.jsonl").write_text("[" * 100_000)
    assert "passages.jsonl:1: no JSON that can be read: it is nested too deeply" in refusal(folder)


def test_a_file_that_is_no_text_is_named(chat_folder: Write) -> None:
    folder = chat_folder()
    file = folder / "conversations" / "lamps.json"
    file.write_bytes(b'{"name": "\xff"}')
    assert refusal(folder) == f"{file}: no UTF-8 text: invalid start byte at byte 10"


def changed(number: int, **values: Any) -> dict[str, Any]:
    conversation = deepcopy(CONVERSATION)
    conversation["turns"][number] |= values
    return conversation


def line_with(folder: Path, words: str) -> int:
    lines = (folder / "conversations" / "lamps.json").read_text().splitlines()
    return next(number for number, line in enumerate(lines, start=1) if words in line)


def test_an_unknown_kind_is_named_by_file_and_line_with_the_choices(chat_folder: Write) -> None:
    folder = chat_folder(changed(1, kind="pronuon"))
    told = refusal(folder)
    assert told.startswith(
        f"{folder / 'conversations' / 'lamps.json'}:{line_with(folder, 'pronuon')}: unknown kind 'pronuon'"
    )
    assert "multi_part" in told


def test_a_turn_that_lacks_something_is_named_by_its_line(chat_folder: Write) -> None:
    folder = chat_folder(changed(1, relevant=[{"source": "lamps.md"}]))
    told = refusal(folder)
    line = line_with(folder, "What is it made of?")
    assert told == f"{folder / 'conversations' / 'lamps.json'}:{line}: turns.1.relevant.0.fact: field required"


def test_a_conversation_over_another_corpus_needs_none_of_its_own(chat_folder: Write, tmp_path: Path) -> None:
    folder = chat_folder()
    corpus = (folder / "corpus").rename(tmp_path / "elsewhere")
    assert read_chat(folder, corpus).corpus == corpus


def test_files_are_read_whatever_their_encoding_mark_and_escapes(chat_folder: Write) -> None:
    folder = chat_folder()
    conversation = changed(1, message="Woraus ist „sie“?")
    file = folder / "conversations" / "lamps.json"
    file.write_text("\ufeff" + json.dumps(conversation, indent=1), encoding="utf-8")
    case = read_folder(folder).cases[1]
    assert case.message == "Woraus ist „sie“?"
    assert "Woraus" in file.read_text(encoding="utf-8").splitlines()[case.place.line - 1]
