"""Labelled examples: read from a file, checked, and embedded once."""

import asyncio
import json
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from condensery.errors import ConfigError, abridged
from condensery.models.embedding import Embedder
from condensery.retrieval.text import is_blank, one_line
from condensery.workflows.few_shot import Example, Neighbour, Ruling, nearest_examples, ruling

LONGEST_EXAMPLE = 2000
"""Characters; embedding models read no more of a text than that."""


def read_examples(path: Path, labels: Iterable[str] = ()) -> list[Example]:
    """The examples of a TOML file (`label = ["text", …]`) or of a JSONL file (`{"label": …, "text": …}` a line).

    When `labels` are given, each of them and no other has examples. Raises `ConfigError`, with the place of the fault.
    """
    if path.suffix not in _READERS:
        raise ConfigError(f"{path}: examples are read from files that end in {' or '.join(_READERS)}")
    try:
        pairs = list(_READERS[path.suffix](path.read_text(encoding="utf-8")))
    except OSError as error:
        raise ConfigError(f"{path}: the examples cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ConfigError(f"{path}: {error}") from error
    try:
        return checked_examples((Example(label=label, text=text) for label, text in pairs), labels)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def checked_examples(examples: Iterable[Example], labels: Iterable[str] = ()) -> list[Example]:
    """`examples` on one line each, without repeats; raises `ConfigError` for what cannot be decided by."""
    kept: dict[str, str] = {}
    for example in examples:
        label, text = one_line(example.label), one_line(example.text)
        if is_blank(label) or is_blank(text) or len(text) > LONGEST_EXAMPLE:
            raise ConfigError(f"an example has a label and 1 to {LONGEST_EXAMPLE} characters, got {abridged(text)!r}")
        if kept.setdefault(text, label) != label:
            raise ConfigError(f"{abridged(text)!r} is an example of both '{kept[text]}' and '{label}'; keep one")
    there, wanted = set(kept.values()), set(labels)
    if wanted and there != wanted:
        raise ConfigError(f"examples are needed of {_named(wanted)}, and of nothing else; got {_named(there)}")
    if len(there) < 2:
        raise ConfigError(f"examples of two labels at least are needed to tell them apart; got {_named(there)}")
    return [Example(label=label, text=text) for text, label in kept.items()]


class ExampleIndex:
    """Examples with their vectors, which are made when the first text is compared with them."""

    def __init__(self, examples: Sequence[Example], embedder: Embedder) -> None:
        self.examples = list(examples)
        self._embedder = embedder
        self._vectors: npt.NDArray[np.float32] | None = None
        self._embedding = asyncio.Lock()

    @property
    def labels(self) -> list[str]:
        """The labels there are, in the order of their first examples."""
        return list(dict.fromkeys(example.label for example in self.examples))

    async def warm(self) -> None:
        """Embed the examples, unless that is done."""
        await self._embedded()

    async def rule(self, text: str, *, neighbours: int) -> Ruling:
        """Which label `text` has, by the `neighbours` nearest examples of each. Raises `ProviderError`."""
        vectors = await self._embedded()
        return ruling(await self._embedder.embed_query(text), self.examples, vectors, neighbours=neighbours)

    async def nearest(self, text: str, most: int) -> list[Neighbour]:
        """The `most` examples nearest to `text`, nearest first. Raises `ProviderError`."""
        vectors = await self._embedded()
        return nearest_examples(await self._embedder.embed_query(text), self.examples, vectors, most=most)

    async def _embedded(self) -> npt.NDArray[np.float32]:
        async with self._embedding:
            if self._vectors is None:
                # As questions, not as documents: both sides of the comparison are of one kind.
                found = await asyncio.gather(*(self._embedder.embed_query(each.text) for each in self.examples))
                self._vectors = np.asarray(found, dtype=np.float32)
            return self._vectors


def _from_toml(text: str) -> Iterator[tuple[str, str]]:
    for label, texts in tomllib.loads(text).items():
        if not isinstance(texts, list) or not all(isinstance(each, str) for each in texts):
            raise ValueError(f"'{abridged(label)}' must be a list of texts")
        yield from ((label, each) for each in texts)


def _from_jsonl(text: str) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(text.splitlines(), start=1):
        if not is_blank(line):
            yield _pair(line, number)


def _pair(line: str, number: int) -> tuple[str, str]:
    try:
        row: Any = json.loads(line)
    except ValueError as error:
        raise ValueError(f"line {number} is not JSON: {error}") from error
    if not isinstance(row, dict) or not all(isinstance(row.get(name), str) for name in ("label", "text")):
        raise ValueError(f'line {number} must be {{"label": "…", "text": "…"}}')
    return row["label"], row["text"]


def _named(labels: Iterable[str]) -> str:
    return ", ".join(abridged(label) for label in sorted(labels)) or "nothing"


_READERS = {".toml": _from_toml, ".jsonl": _from_jsonl}
