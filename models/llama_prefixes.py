"""Keeps what a local model has read of recent conversations, so that taking turns does not mean reading all again.

llama.cpp reuses the beginning that a prompt shares with the call just before it. When another conversation comes in
between, that is lost; here its memory is copied aside first and put back when a prompt continues it.
"""

import ctypes
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from llama_cpp import Llama

_WORTHWHILE = 64  # tokens; below this, reading again is as quick as copying
_SEQUENCE = 0


class PrefixCache:
    """Copies of a model's memory by the tokens it had read, the least recently used dropped first.

    For use in the model's owner thread only. A copy takes about 25 KB a token for a small model, 130 KB for a 7B one.
    """

    def __init__(self, max_bytes: int = 256 * 1024 * 1024) -> None:
        self._max_bytes = max_bytes
        self._copies: OrderedDict[tuple[int, ...], bytes] = OrderedDict()
        self._passing = False

    def prepare(self, model: "Llama", prompt: Sequence[int]) -> None:
        """Before a call: keep what `prompt` would overwrite, and put back the copy that shares most with it."""
        live = tuple(model.input_ids[: model.n_tokens].tolist())
        reusable = shared(live, prompt)
        kept_aside, self._passing = not self._passing, False
        kept = max(self._copies, key=lambda tokens: shared(tokens, prompt), default=())
        if kept_aside and len(live) - reusable >= _WORTHWHILE:
            self._keep(model, live)
        if kept in self._copies and shared(kept, prompt) - reusable >= _WORTHWHILE:
            self._put_back(model, kept)

    def pass_over(self) -> None:
        """What the model has read last will not be continued: do not copy it aside."""
        self._passing = True

    def _keep(self, model: "Llama", tokens: tuple[int, ...]) -> None:
        import llama_cpp

        size = llama_cpp.llama_state_seq_get_size(model.ctx, _SEQUENCE)
        if size > self._max_bytes:
            return
        buffer = (ctypes.c_uint8 * size)()
        written = llama_cpp.llama_state_seq_get_data(model.ctx, buffer, size, _SEQUENCE)
        for outdated in [other for other in self._copies if tokens[: len(other)] == other]:
            del self._copies[outdated]
        self._copies[tokens] = bytes(buffer)[:written]
        while sum(map(len, self._copies.values())) > self._max_bytes:
            self._copies.popitem(last=False)

    def _put_back(self, model: "Llama", tokens: tuple[int, ...]) -> None:
        import llama_cpp

        self._copies.move_to_end(tokens)
        data = self._copies[tokens]
        buffer = (ctypes.c_uint8 * len(data)).from_buffer_copy(data)
        if llama_cpp.llama_state_seq_set_data(model.ctx, buffer, len(data), _SEQUENCE) != len(data):
            model.reset()  # type: ignore[no-untyped-call]
            return
        model.n_tokens = len(tokens)
        model.input_ids[: len(tokens)] = tokens
        model._requires_eval = True


def shared(first: Sequence[int], second: Sequence[int]) -> int:
    """How many tokens two prompts have in common at their start."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(first), len(second)))
