"""Long passages for a model that reads a limited number of tokens: in overlapping windows, nothing left out."""

from collections.abc import Sequence

OVERLAP = 4
"""One part in so many of a window is also in the next, so that a sentence at a border is whole in one of them."""


def windows(offsets: Sequence[tuple[int, int]], size: int) -> list[tuple[int, int]]:
    """Return the character spans that cover the tokens at `offsets` (start, end), each of at most `size` tokens.

    The last window ends with the text and is as long as the others. Raises ValueError for a size below 1.
    """
    if size < 1:
        raise ValueError(f"a window holds at least 1 token, got {size}")
    if not offsets:
        return []
    last = max(0, len(offsets) - size)
    step = max(1, size - size // OVERLAP)
    starts = [*range(0, last, step), last]
    return [(offsets[start][0], offsets[min(start + size, len(offsets)) - 1][1]) for start in starts]
