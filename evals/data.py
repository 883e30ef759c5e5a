"""What is measured with: passages or files, and the turns that are put to them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from condensery.workflows.turn import Exchange

STANDALONE_KINDS = ("standalone", "topic_shift")
"""Kinds of messages that do not lean on what went before."""
KINDS = (*STANDALONE_KINDS, "pronoun", "elliptical", "correction", "comparison", "multi_part", "long_paste")
"""The labels of a turn of a conversation."""


class Place(NamedTuple):
    """A line of a file of the data, for messages."""

    file: Path
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Wanted:
    """What answers a turn: the passage of that id, or a chunk of the file `source` that contains `fact`."""

    source: str
    fact: str | None = None

    @property
    def name(self) -> str:
        return self.source if self.fact is None else f"{self.source}: {self.fact}"


@dataclass(frozen=True)
class Case:
    """One turn to evaluate, with what went before it."""

    name: str
    conversation: str
    kind: str
    message: str
    history: tuple[Exchange, ...]
    wanted: tuple[Wanted, ...]
    place: Place


@dataclass(frozen=True)
class Passage:
    """A text that is one unit of results, whatever number of chunks it becomes."""

    id: str
    text: str


@dataclass(frozen=True)
class Data:
    """A folder of data: `passages`, or the folder `corpus` with files to ingest, and the turns."""

    form: Literal["turns", "chat"]
    folder: Path
    cases: tuple[Case, ...]
    passages: tuple[Passage, ...] = ()
    corpus: Path | None = None

    @property
    def name(self) -> str:
        return self.folder.resolve().name
