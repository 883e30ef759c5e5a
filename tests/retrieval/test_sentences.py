"""Sentence boundaries, by offsets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condensery.retrieval.sentences import sentence_spans


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("She met Dr. Smith at 3 p.m. in Paris. He left.", ["She met Dr. Smith at 3 p.m. in Paris.", "He left."]),
        ("Use tools, e.g. Excel, etc. Then stop.", ["Use tools, e.g. Excel, etc. Then stop."]),
        ("J. R. Miller wrote it. True.", ["J. R. Miller wrote it.", "True."]),
        ("The answer is no. Then we left.", ["The answer is no.", "Then we left."]),
        ("See No. 5 and Fig. 3. Then stop.", ["See No. 5 and Fig. 3.", "Then stop."]),
        ("1. First item. 2. Second item.", ["1. First item.", "2. Second item."]),
        ("It costs 3.50 francs. Good.", ["It costs 3.50 francs.", "Good."]),
        ('He said "Stop." Then he left.', ['He said "Stop."', "Then he left."]),
        ("请开票。谢谢！好", ["请开票。", "谢谢！", "好"]),
        ("「はい。」と言った。次。", ["「はい。」", "と言った。", "次。"]),
        ("no end\n\nnext paragraph", ["no end", "next paragraph"]),
        ("a line\nthat goes on. New.", ["a line\nthat goes on.", "New."]),
        ("Wait... what? Yes.", ["Wait...", "what?", "Yes."]),
        ("version 2.0.1 of node.js is out", ["version 2.0.1 of node.js is out"]),
        ("", []),
        (" \n\n ", []),
    ],
)
def test_sentences_end_where_a_reader_would_say(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@given(st.text(st.sampled_from(list("aB1 .!?。\n\"'")), max_size=80))
def test_only_white_space_lies_between_sentences(text: str) -> None:
    position = 0
    for start, end in sentence_spans(text):
        assert text[position:start].strip() == ""
        assert text[start:end] == text[start:end].strip() != ""
        position = end
    assert text[position:].strip() == ""


def test_a_long_text_without_an_end_takes_no_time_to_split() -> None:
    assert len(sentence_spans("word " * 200_000)) == 1
    assert len(sentence_spans("Dr. " * 50_000)) == 1
