"""What an embedder is given and gives back when the parts of a text count too."""

from dataclasses import dataclass
from typing import NamedTuple

Span = tuple[int, int]


@dataclass(frozen=True)
class Passage:
    """A text to embed; `spans` are character offsets of the parts that get a vector of their own."""

    text: str
    spans: tuple[Span, ...] = ()

    def after(self, prefix: str) -> "Passage":
        """The same passage with `prefix` before it."""
        if not prefix:
            return self
        return Passage(prefix + self.text, tuple((start + len(prefix), end + len(prefix)) for start, end in self.spans))


class PassageVectors(NamedTuple):
    """The unit vector of a passage, and one per span in order (zero where the model did not see it).

    `cut`: the passage was longer than the model's input, and what is beyond is in no vector.
    """

    vector: list[float]
    spans: list[list[float]]
    cut: bool = False
