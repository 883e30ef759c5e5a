"""Cross-encoders of sentence-transformers: how well a passage answers a question, off the event loop."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from condensery.errors import ConfigError
from condensery.models.embedding_folder import cached_folder, read_json
from condensery.models.failures import provider_errors
from condensery.models.windows import windows
from condensery.models.worker import Worker

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

_MAX_WAITING = 1000
_MARGIN = 4
"""Tokens a window leaves free: a cut-out text may split into a few more tokens than it did within the whole."""

Pair = tuple[str, str]


class CrossEncoderModel:
    """A cross-encoder in a folder. It loads with the first call, in a thread of its own.

    A passage longer than the model reads is judged in overlapping windows; the best of them counts, so that an answer
    at its end does. Pairs of like length share a batch; a caller that stops waiting stops the batches that wait.
    """

    def __init__(self, folder: Path, *, batch_size: int = 16) -> None:
        _check(folder)
        self.folder = folder
        self.batch_size = batch_size
        self._model = _LazyModel(folder)
        self._worker = Worker("cross-encoder", limit=_MAX_WAITING)

    async def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """Return one score per passage, in order; they compare within one call. Raises `ProviderError`."""
        if not passages:
            return []
        owners, pairs = await self._worker.run(lambda: self._model.pairs(question, passages))
        scores = [0.0] * len(pairs)
        by_length = sorted(range(len(pairs)), key=lambda at: len(pairs[at][1]), reverse=True)
        for start in range(0, len(pairs), self.batch_size):
            batch = by_length[start : start + self.batch_size]
            found = await self._batch([pairs[at] for at in batch])
            for at, score in zip(batch, found, strict=True):
                scores[at] = score
        best = [float("-inf")] * len(passages)
        for owner, score in zip(owners, scores, strict=True):
            best[owner] = max(best[owner], score)
        return best

    async def close(self) -> None:
        """End the thread and free the model."""
        await asyncio.to_thread(self._worker.close)

    async def _batch(self, pairs: list[Pair]) -> list[float]:
        return await self._worker.run(lambda: self._model.predict(pairs))


class CrossEncoderPool:
    """The cross-encoders of one process, each opened once."""

    def __init__(self) -> None:
        self._folders: dict[str, Path] = {}
        self._opened: dict[Path, CrossEncoderModel] = {}

    def get(self, spec: str, batch_size: int) -> CrossEncoderModel:
        """The cross-encoder in a folder, or of a name in the local hub cache; `ConfigError` when it is not there."""
        if spec not in self._folders:
            self._folders[spec] = cross_encoder_folder(spec)
        folder = self._folders[spec]
        if folder not in self._opened:
            self._opened[folder] = CrossEncoderModel(folder)
        self._opened[folder].batch_size = batch_size
        return self._opened[folder]

    async def close(self) -> None:
        """Close what was opened."""
        models = list(self._opened.values())
        self._opened.clear()
        await asyncio.gather(*(model.close() for model in models))


def cross_encoder_folder(spec: str) -> Path:
    """Return the folder of a path, or of a hub name in the local cache; never fetches. Raises `ConfigError`."""
    folder = Path(spec).expanduser()
    if folder.is_dir():
        return folder
    if (cached := cached_folder(spec)) is not None:
        return cached
    raise ConfigError(
        f"the cross-encoder '{spec}' is neither a folder nor in the local model cache, and models are never fetched at "
        f"run time; run `hf download {spec}` once, set rerank.model to a folder, or rerank.reranker to llm"
    )


class _LazyModel:
    """The sentence-transformers model; used in the worker's thread only."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._loaded: CrossEncoder | None = None

    def pairs(self, question: str, passages: Sequence[str]) -> tuple[list[int], list[Pair]]:
        """The pairs to judge, and for each the number of the passage it is a window of."""
        with provider_errors(f"the cross-encoder in {self._folder}"):
            tokenizer: Any = self._model().tokenizer
            special = tokenizer.num_special_tokens_to_add(pair=True)
            room = _longest(self._model()) - special
            asked = _start(tokenizer, question, room // 2)
            size = room - len(_offsets(tokenizer, asked))
            size -= min(_MARGIN, size // 8)
            pairs = [
                (owner, (asked, passage[start:end]))
                for owner, passage in enumerate(passages)
                for start, end in windows(_offsets(tokenizer, passage), size) or [(0, len(passage))]
            ]
        return [owner for owner, _ in pairs], [pair for _, pair in pairs]

    def predict(self, pairs: list[Pair]) -> list[float]:
        with provider_errors(f"the cross-encoder in {self._folder}"):
            scores = self._model().predict(pairs, batch_size=len(pairs), show_progress_bar=False)
            return [float(score) for score in scores]

    def _model(self) -> "CrossEncoder":
        self._loaded = self._loaded or load(self._folder)
        return self._loaded


def load(folder: Path) -> "CrossEncoder":
    """Load the model without network and without progress bars."""
    from sentence_transformers import CrossEncoder
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    model: CrossEncoder = CrossEncoder(str(folder), local_files_only=True)
    return model


def _check(folder: Path) -> None:
    config = read_json(folder / "config.json")
    labels = config.get("num_labels") or len(config.get("id2label") or {}) or 1
    if not config.get("model_type"):
        raise ConfigError(f"{folder} is no cross-encoder: its config.json names no model_type; check rerank.model")
    if labels != 1:
        raise ConfigError(f"{folder} sorts pairs into {labels} classes and gives no score; choose another rerank.model")


def _longest(model: "CrossEncoder") -> int:
    """The most tokens of a pair, by the model's positions where the tokenizer does not say."""
    longest = getattr(model, "max_seq_length", None) or model.max_length
    positions = getattr(model.config, "max_position_embeddings", None) or longest or 512
    return int(min(longest or positions, positions))


def _offsets(tokenizer: Any, text: str) -> list[tuple[int, int]]:
    encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
    return [(start, end) for start, end in encoded["offset_mapping"] if end > start]


def _start(tokenizer: Any, text: str, tokens: int) -> str:
    offsets = _offsets(tokenizer, text)
    return text if len(offsets) <= tokens else text[: offsets[tokens - 1][1]]
