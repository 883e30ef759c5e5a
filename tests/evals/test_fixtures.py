"""The scripted conversations: well formed, enough of each kind, and every label true to its document."""

import json
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from condensery.retrieval.chunking import chunk_document
from condensery.retrieval.readers import read_document
from condensery.settings import Ingest

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "evals" / "fixtures"
KINDS = {
    *("standalone", "pronoun", "elliptical", "topic_shift"),
    *("correction", "comparison", "multi_part", "long_paste"),
}


@dataclass(frozen=True)
class Suite:
    """A corpus, the conversations about it, and how many there must be."""

    name: str
    corpus: Path
    conversations: int
    turns: int
    least: dict[str, int]

    @property
    def folder(self) -> Path:
        return FIXTURES / self.name

    def files(self) -> list[Path]:
        return sorted((self.folder / "conversations").iterdir())

    def loaded(self) -> dict[str, dict[str, Any]]:
        return {path.name: json.loads(path.read_text(encoding="utf-8")) for path in self.files()}

    def all_turns(self) -> list[tuple[str, dict[str, Any]]]:
        return [(name, turn) for name, conversation in self.loaded().items() for turn in conversation["turns"]]


SUITES = [
    Suite(
        name="railway",
        corpus=ROOT / "examples" / "docs",
        conversations=40,
        turns=130,
        least={"standalone": 40, "pronoun": 25, "elliptical": 25, "topic_shift": 15}
        | {"correction": 10, "comparison": 10, "multi_part": 10, "long_paste": 6},
    ),
    Suite(
        name="clinic",
        corpus=FIXTURES / "clinic" / "corpus",
        conversations=20,
        turns=65,
        least={"standalone": 20, "pronoun": 12, "elliptical": 12, "topic_shift": 7}
        | {"correction": 5, "comparison": 5, "multi_part": 5, "long_paste": 3},
    ),
]

suites = pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.name)


def one_line(text: str) -> str:
    return " ".join(text.split())


@cache
def chunks_of(document: Path) -> tuple[str, ...]:
    """The texts of a document's chunks as ingested by default, on one line each."""
    parsed = read_document(document.name, document.read_bytes())
    return tuple(one_line(chunk.text) for chunk in chunk_document(parsed, document.name, "default", Ingest()))


@suites
def test_every_conversation_has_the_format_that_the_evals_read(suite: Suite) -> None:
    for name, conversation in suite.loaded().items():
        assert set(conversation) == {"name", "turns"}, name
        assert conversation["turns"], name
        for turn in conversation["turns"]:
            assert set(turn) == {"message", "kind", "assistant", "relevant"}, (name, turn)
            assert one_line(turn["message"]), (name, turn)
            assert one_line(turn["assistant"]), (name, turn)
            assert turn["kind"] in KINDS, (name, turn)
            assert turn["relevant"], (name, turn)
            assert all(set(each) == {"source", "fact"} for each in turn["relevant"]), (name, turn)


@suites
def test_a_conversation_is_named_like_its_file(suite: Suite) -> None:
    names = [conversation["name"] for conversation in suite.loaded().values()]
    assert [path.name for path in suite.files()] == [f"{name}.json" for name in names]


def test_no_name_occurs_in_two_corpora() -> None:
    names = Counter(name for suite in SUITES for name in suite.loaded())
    assert [name for name, count in names.items() if count > 1] == []


@suites
def test_there_are_enough_conversations_and_turns_of_each_kind(suite: Suite) -> None:
    kinds = Counter(turn["kind"] for _, turn in suite.all_turns())
    assert len(suite.files()) >= suite.conversations
    assert kinds.total() >= suite.turns
    assert {kind: kinds[kind] for kind, least in suite.least.items() if kinds[kind] < least} == {}


@suites
def test_a_conversation_begins_with_a_message_that_stands_alone(suite: Suite) -> None:
    assert {name: each["turns"][0]["kind"] for name, each in suite.loaded().items()} == dict.fromkeys(
        suite.loaded(), "standalone"
    )


@suites
def test_long_pastes_are_long_and_nothing_else_is(suite: Suite) -> None:
    wrong = [turn["message"] for _, turn in suite.all_turns() if (len(turn["message"]) > 1_000) != (is_paste(turn))]
    assert wrong == []


def is_paste(turn: dict[str, Any]) -> bool:
    return bool(turn["kind"] == "long_paste")


@suites
def test_every_fact_lies_whole_within_a_chunk_of_its_source(suite: Suite) -> None:
    lost = [
        (name, each["fact"])
        for name, turn in suite.all_turns()
        for each in turn["relevant"]
        if not any(one_line(each["fact"]) in chunk for chunk in chunks_of(suite.corpus / each["source"]))
    ]
    assert lost == []


@suites
def test_a_fact_occurs_in_no_other_document(suite: Suite) -> None:
    documents = {path.name: "\n".join(chunks_of(path)) for path in suite.corpus.iterdir()}
    doubtful = [
        (name, each["fact"], source)
        for name, turn in suite.all_turns()
        for each in turn["relevant"]
        for source, text in documents.items()
        if source != each["source"] and one_line(each["fact"]) in text
    ]
    assert doubtful == []


@suites
def test_a_fact_is_a_phrase_of_three_to_25_words(suite: Suite) -> None:
    lengths = {each["fact"]: len(each["fact"].split()) for _, turn in suite.all_turns() for each in turn["relevant"]}
    assert {fact: length for fact, length in lengths.items() if not 3 <= length <= 25} == {}


@suites
def test_every_document_answers_something(suite: Suite) -> None:
    answering = {each["source"] for _, turn in suite.all_turns() for each in turn["relevant"]}
    assert {path.name for path in suite.corpus.iterdir()} == answering


def test_no_message_occurs_twice() -> None:
    messages = Counter(one_line(turn["message"]).lower() for suite in SUITES for _, turn in suite.all_turns())
    assert [message for message, count in messages.items() if count > 1] == []


def test_the_readme_puts_each_railway_conversation_into_one_of_two_equal_halves() -> None:
    railway = SUITES[0]
    tuning, held_out = halves((railway.folder / "README.md").read_text(encoding="utf-8"))
    assert sorted([*tuning, *held_out]) == [path.stem for path in railway.files()]
    assert abs(len(tuning) - len(held_out)) <= 1


def halves(readme: str) -> tuple[list[str], list[str]]:
    _, _, listed = readme.partition("### tuning\n")
    tuning, heading, held_out = listed.partition("### held-out\n")
    assert heading
    return re.findall(r"^- (\S+)$", tuning, re.MULTILINE), re.findall(r"^- (\S+)$", held_out, re.MULTILINE)
