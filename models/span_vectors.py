"""Vectors of passages and of their spans from one pass: the mean of each span's token embeddings."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from condensery.models.passages import Passage, PassageVectors, Span

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

Offsets = Sequence[Span]
Matrix = npt.NDArray[np.float32]


def passage_vectors(model: "SentenceTransformer", passages: Sequence[Passage]) -> list[PassageVectors]:
    """Embed `passages` in one batch; blocks, so call it off the event loop."""
    texts = [passage.text for passage in passages]
    features: list[dict[str, Any]] = model.encode(  # type: ignore[assignment]
        texts, batch_size=len(texts), output_value=None, show_progress_bar=False
    )
    offsets = model.tokenizer(texts, return_offsets_mapping=True, truncation=True, max_length=model.max_seq_length)[
        "offset_mapping"
    ]
    return [
        PassageVectors(
            vector=_unit(feature["sentence_embedding"].float().numpy()).tolist(),
            spans=[_mean(feature["token_embeddings"].float().numpy(), where, span).tolist() for span in passage.spans],
            cut=len(where) == model.max_seq_length and max(end for _, end in where) < len(passage.text.rstrip()),
        )
        for passage, feature, where in zip(passages, features, offsets, strict=True)
    ]


def _mean(tokens: Matrix, offsets: Offsets, span: Span) -> Matrix:
    """The unit mean of the tokens whose characters lie in `span`; special tokens have none and never count."""
    inside = [i for i, (start, end) in enumerate(offsets) if start < end and start >= span[0] and end <= span[1]]
    return _unit(tokens[inside].mean(axis=0)) if inside else np.zeros(tokens.shape[1], dtype=np.float32)


def _unit(vector: Matrix) -> Matrix:
    length = float(np.linalg.norm(vector))
    return vector / length if length else vector
