"""Windows over the tokens of a long passage."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condensery.models.windows import windows


@given(st.integers(1, 300), st.integers(1, 60))
def test_windows_cover_every_token_and_none_is_too_long(tokens: int, size: int) -> None:
    offsets = [(3 * at, 3 * at + 2) for at in range(tokens)]
    spans = windows(offsets, size)
    held = [{at for at, (start, end) in enumerate(offsets) if first <= start and end <= last} for first, last in spans]
    assert set().union(*held) == set(range(tokens))
    assert {len(window) for window in held} == {min(size, tokens)}
    assert spans == sorted(set(spans))


def test_neighbouring_windows_overlap() -> None:
    spans = windows([(at, at + 1) for at in range(100)], 40)
    assert spans == [(0, 40), (30, 70), (60, 100)]


def test_a_text_without_tokens_has_no_window_and_a_window_without_room_is_refused() -> None:
    assert windows([], 10) == []
    with pytest.raises(ValueError, match="at least 1 token, got 0"):
        windows([(0, 1)], 0)
