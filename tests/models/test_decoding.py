import json
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from condensery.models.decoding import TextDecoder

ALPHABET = st.sampled_from("ab\n:Ué請🙂")
TEXT = st.text(ALPHABET, max_size=30)


def decode(data: bytes, cuts: list[int], stop: list[str]) -> list[str]:
    decoder = TextDecoder(stop)
    bounds = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    return [*(decoder.feed(data[a:b]) for a, b in pairwise(bounds)), decoder.finish()]


@given(text=TEXT, cuts=st.lists(st.integers(0, 120), max_size=40))
def test_joined_pieces_are_the_text_whatever_the_tokens_are(text: str, cuts: list[int]) -> None:
    assert "".join(decode(text.encode(), cuts, [])) == text


@given(
    text=TEXT, cuts=st.lists(st.integers(0, 120), max_size=40), stop=st.lists(st.text(ALPHABET, max_size=3), max_size=3)
)
def test_text_ends_before_the_first_stop_string(text: str, cuts: list[int], stop: list[str]) -> None:
    ends = [at for at in (text.find(word) for word in stop if word) if at >= 0]
    joined = "".join(decode(text.encode(), cuts, stop))
    assert joined == text[: min(ends, default=len(text))]


def test_no_piece_holds_half_a_character() -> None:
    pieces = decode("naïve 請求書 🙂".encode(), list(range(100)), [])
    assert all("\ufffd" not in piece for piece in pieces)
    assert json.loads(json.dumps(pieces)) == pieces


def test_text_that_only_begins_like_a_stop_string_comes_out() -> None:
    decoder = TextDecoder(["\nUser:"])
    assert decoder.feed(b"a\nUs") == "a"
    assert decoder.feed(b"age") == "\nUsage"
    assert decoder.feed(b"\nUser") == ""
    assert decoder.finish() == "\nUser"
    assert not decoder.stopped


def test_an_incomplete_character_at_the_very_end_is_dropped() -> None:
    decoder = TextDecoder()
    assert decoder.feed("a🙂".encode()[:-1]) + decoder.finish() == "a"
