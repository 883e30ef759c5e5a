"""A GGUF's vocabulary and chat template, usable from any thread and without the weights."""

import ctypes
import logging
import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from condensery.errors import ConfigError

if TYPE_CHECKING:
    from llama_cpp import Llama

log = logging.getLogger(__name__)
_LONGEST_TOKEN = 512
# For a file without a template: plain text that any base model continues; hygiene cuts the turns it invents.
PLAIN_TEMPLATE = (
    "{% for message in messages %}{{ message['role'] | capitalize + ': ' + message['content'] + '\n\n' }}{% endfor %}"
    "{{ 'Assistant:' }}"
)


def load_llama(path: Path, **options: Any) -> "Llama":
    """Load a GGUF with llama.cpp, silently: what it has to say goes to this module's log at DEBUG.

    Raises `ConfigError` when llama.cpp refuses the file.
    """
    import llama_cpp

    llama_cpp.llama_log_set(_log_callback(), None)
    try:
        return llama_cpp.Llama(str(path), verbose=False, **options)
    except (ValueError, RuntimeError) as error:
        raise ConfigError(
            f"llama.cpp cannot load {path}; it may be damaged or need a newer llama-cpp-python"
        ) from error


_callbacks: list[Any] = []


def _log_callback() -> Any:
    """The one log callback of the process; llama.cpp keeps its address, so it must never be collected."""
    if not _callbacks:
        import llama_cpp

        _callbacks.append(llama_cpp.llama_log_callback(_to_log))
    return _callbacks[0]


def _to_log(_level: int, text: bytes, _data: object) -> None:
    log.debug("llama.cpp: %s", text.decode("utf-8", "replace").rstrip())


class Vocabulary:
    """Tokens of a GGUF and its chat template. Loads with the first use (about 0.1 s), once, whatever the thread.

    `thinking`: what a template with such a switch (Qwen 3) is told; it has no effect on others.
    """

    def __init__(self, path: Path, *, thinking: bool = False) -> None:
        self._path = path
        self._thinking = thinking
        self._lock = threading.Lock()
        self._loaded: Llama | None = None

    @property
    def _model(self) -> "Llama":
        with self._lock:
            if self._loaded is None:
                self._loaded = load_llama(self._path, vocab_only=True, n_ctx=32, n_batch=32)
        return self._loaded

    def tokenize(self, text: str) -> list[int]:
        """Return the tokens of a rendered prompt, with exactly one BOS if the model wants it."""
        tokens = self._model.tokenize(text.encode("utf-8", "replace"), add_bos=False, special=True)
        bos = self._model.token_bos()
        while tokens[:2] == [bos, bos]:
            del tokens[0]
        wants_bos = self._model._model.add_bos_token() and tokens[:1] != [bos]
        return [bos, *tokens] if wants_bos else tokens

    def first_token(self, text: str) -> int:
        """Return the token that `text` begins with."""
        return self._model.tokenize(text.encode(), add_bos=False, special=False)[0]

    @cached_property
    def template(self) -> "Callable[[Sequence[dict[str, str]]], str]":
        """Renders messages by the file's own chat template; a template may refuse them with any exception."""
        from llama_cpp.llama_chat_format import Jinja2ChatFormatter

        source = self._model.metadata.get("tokenizer.chat_template")
        if source is None:
            log.warning("%s has no chat template; its prompts are plain text", self._path.name)
        formatter = Jinja2ChatFormatter(source or PLAIN_TEMPLATE, self._token(self._model.token_eos()), self._bos_text)
        return lambda messages: str(
            formatter(messages=list(messages), enable_thinking=self._thinking).prompt,  # type: ignore[arg-type]
        )

    @property
    def _bos_text(self) -> str:
        return self._token(self._model.token_bos())

    def _token(self, token: int) -> str:
        return str(self._model._model.token_get_text(token)) if token != -1 else ""

    @cached_property
    def control_texts(self) -> list[str]:
        """The texts of the tokens that steer the model (`<|im_end|>`), longest first."""
        import llama_cpp

        vocabulary = llama_cpp.llama_model_get_vocab(self._model.model)
        tokens = range(self._model.n_vocab())
        control = [t for t in tokens if llama_cpp.llama_vocab_is_control(vocabulary, t)]
        return sorted(filter(None, map(self._token, control)), key=len, reverse=True)


def is_end(model: "Llama", token: int) -> bool:
    """Whether `token` ends a reply."""
    import llama_cpp

    return bool(llama_cpp.llama_vocab_is_eog(llama_cpp.llama_model_get_vocab(model.model), token))


def token_bytes(model: "Llama", token: int) -> bytes:
    """Return the bytes of one token; special tokens have none. (`Llama.detokenize` loses tokens over 32 bytes.)"""
    import llama_cpp

    buffer = ctypes.create_string_buffer(_LONGEST_TOKEN)
    vocabulary = llama_cpp.llama_model_get_vocab(model.model)
    length = llama_cpp.llama_token_to_piece(vocabulary, token, buffer, _LONGEST_TOKEN, 0, False)
    return buffer.raw[: max(0, length)]
