"""Reads what the next prompts will begin with while nobody waits for the model."""

from dataclasses import dataclass, field
from threading import Event
from typing import TYPE_CHECKING

from condensery.models.llama_prefixes import PrefixCache, shared

if TYPE_CHECKING:
    from llama_cpp import Llama

STEP = 32
"""Tokens between two looks at whether to stop: a fifth of a second for a model of 1.5B parameters on two cores."""


@dataclass(frozen=True, eq=False)
class Reading:
    """A text to be read. It ends between steps, where nothing is lost, and is never `cancelled` within one."""

    tokens: tuple[int, ...]
    cancelled: bool = False
    _stop: Event = field(default_factory=Event)

    @property
    def stopped(self) -> bool:
        """Whether something more urgent has come."""
        return self._stop.is_set()

    def stop(self) -> None:
        """End the reading at its next step; from any thread."""
        self._stop.set()


def read_ahead(model: "Llama", reading: Reading, prefixes: PrefixCache) -> None:
    """Bring `model` to have read the text, or its beginning when it is stopped; for the model's owner thread."""
    tokens = list(reading.tokens)
    prefixes.prepare(model, tokens)
    start = shared(model.input_ids[: model.n_tokens].tolist(), tokens)
    if start == len(tokens):
        return
    if not model._ctx.kv_cache_seq_rm(-1, start, -1):  # a recurrent model forgets everything or nothing
        model.reset()  # type: ignore[no-untyped-call]
        start = 0
    model.n_tokens = start
    for at in range(start, len(tokens), STEP):
        if reading.stopped:
            return
        model.eval(tokens[at : at + STEP])
