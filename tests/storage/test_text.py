from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from condensery.storage.text import clean_json, clean_text

anything = st.text(st.characters(exclude_categories=()) | st.sampled_from("\x00\ud800\udfff\ud83d\ude00"))


@given(anything)
def test_clean_text_is_always_what_postgres_takes(text: str) -> None:
    cleaned = clean_text(text)
    assert "\x00" not in cleaned
    assert cleaned.encode().decode() == cleaned
    assert clean_text(cleaned) == cleaned


@given(st.text().filter(lambda text: "\x00" not in text))
def test_text_that_is_clean_stays_as_it_is(text: str) -> None:
    assert clean_text(text) == text


def test_halves_of_a_pair_are_joined_and_lone_ones_replaced() -> None:
    assert clean_text("\ud83d\ude00 \ud83d \ude00") == "😀 \ufffd \ufffd"
    assert clean_text("n\x00o\x00") == "no"


def test_json_is_cleaned_at_every_depth() -> None:
    dirty: JsonValue = {"k\x00": [{"a": "\udc00", "b": float("nan"), "c": [1, None, True, 2.5]}]}
    assert clean_json(dirty) == {"k": [{"a": "\ufffd", "b": 0.0, "c": [1, None, True, 2.5]}]}
