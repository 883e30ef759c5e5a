"""The one way the rest of Condensery talks to a model that writes: `ChatModel`, whatever the model is."""

import logging
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from typing import TYPE_CHECKING, Any

from condensery.errors import CondenseryError, ConfigError
from condensery.models.adapters import Adapter
from condensery.models.hygiene import StreamCleaner, clean, strip_thinking
from condensery.models.specs import Endpoint, LocalFile, parse_model_spec
from condensery.models.types import FinishReason, InputTooLarge, Reply
from condensery.settings import Llm

if TYPE_CHECKING:
    from llama_index.core.base.llms.types import ChatMessage, ChatResponse
    from llama_index.core.llms.llm import LLM

__all__ = ["ChatModel", "InputTooLarge", "Reply", "open_chat_model"]

log = logging.getLogger(__name__)
Json = dict[str, Any]


class ChatModel:
    """A model that writes. Replies are cleaned (`models/hygiene.py`).

    Every call raises `InputTooLarge` (nothing was cut or sent), `Busy` (a queue is full; try again), or another
    `ProviderError`, never an exception of a library. `capable` is false for the bundled small model only: it proves the
    wiring, and its text should not be shown when there is another way.
    """

    def __init__(
        self,
        llm: "LLM",
        *,
        name: str,
        context_window: int | None = None,
        capable: bool = True,
        adapter: Adapter | None = None,
    ) -> None:
        self.name = name
        self.context_window = context_window or llm.metadata.context_window
        self.capable = capable
        self._adapter = adapter or Adapter(llm, self.context_window)

    @property
    def llm(self) -> "LLM":
        """LlamaIndex's own object, for what only LlamaIndex can be given: uncleaned, with its own errors."""
        return self._adapter.llm

    def __repr__(self) -> str:
        return f"ChatModel({self.name!r}, context_window={self.context_window}, capable={self.capable})"

    async def count_tokens(self, messages: "Sequence[ChatMessage]") -> int:
        """Tokens of the prompt made of `messages`, template included: exact for a local model, else estimated high."""
        with self._translated():
            return await self._adapter.count_tokens(messages)

    async def complete(
        self,
        messages: "Sequence[ChatMessage]",
        *,
        max_tokens: int,
        stop: Sequence[str] = (),
        json_schema: Json | None = None,
        background: bool = False,
    ) -> Reply:
        """Return the whole reply. With `json_schema` it is JSON of that schema (cut off when it ends by `length`).

        Cancelling the call stops a local model. `background`: let interactive calls go first.
        """
        options = _options(max_tokens, stop, json_schema, background)
        with self._translated():
            response = await self._adapter.chat(messages, options)
        cleaned = (strip_thinking if json_schema is not None else clean)(response.message.content or "")
        unfinished = cleaned.unfinished_thinking or (not cleaned.text and _thought(response))
        return self._reply(cleaned.text, unfinished, _finish_reason(response))

    async def stream(
        self,
        messages: "Sequence[ChatMessage]",
        *,
        max_tokens: int,
        stop: Sequence[str] = (),
        background: bool = False,
        on_finish: Callable[[Reply], None] | None = None,
    ) -> AsyncGenerator[str, None]:
        """Yield the reply as it is made; closing the iterator (use `aclosing`) stops the model.

        `on_finish` gets the finished reply. Its text is the joined stream, except for a model that marks only the end
        of its reasoning: then it is the text without that reasoning.
        """
        cleaner, last, thought = StreamCleaner(), None, False
        options = _options(max_tokens, stop, None, background)
        with self._translated():
            async with aclosing(await self._adapter.stream(messages, options)) as responses:
                async for last in responses:
                    thought = thought or _thought(last)
                    if piece := cleaner.feed(last.delta or ""):
                        yield piece
                    if cleaner.ended:
                        break
        if piece := cleaner.finish():
            yield piece
        unfinished = cleaner.unfinished_thinking or (not cleaner.text and thought)
        reply = self._reply(cleaner.text, unfinished, "stop" if cleaner.ended else _finish_reason(last))
        if on_finish is not None:
            on_finish(reply)

    @property
    def parallel(self) -> int:
        """How many calls may run at once; more only wait."""
        return self._adapter.parallel

    async def yes_probability(self, messages: "Sequence[ChatMessage]", *, yes: str = "yes", no: str = "no") -> float:
        """Return how likely the reply is `yes` rather than `no`, words of any language, between 0 and 1.

        A local model gives the probabilities of its first token and writes nothing; an endpoint those it reports; any
        other model 0 or 1, by what it writes. Raises `ProviderError` for a reply that is neither.
        """
        with self._translated():
            return await self._adapter.yes_probability(messages, yes, no)

    async def read_ahead(self, first: "Sequence[ChatMessage]", second: "Sequence[ChatMessage]") -> None:
        """Let a local model read, while nobody waits for it, what two prompts begin with; any other call ends it.

        For other models, and for one whose weights are not loaded yet, nothing happens.
        """
        with self._translated():
            await self._adapter.read_ahead(first, second)

    async def close(self) -> None:
        """Stop what runs and free the model."""
        await self._adapter.close()

    def _reply(self, text: str, unfinished_thinking: bool, finish_reason: FinishReason) -> Reply:
        if unfinished_thinking:
            log.warning("%s wrote reasoning only, no reply; a larger token limit may help", self.name)
        return Reply(text=text, unfinished_thinking=unfinished_thinking, finish_reason=finish_reason)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except CondenseryError:
            raise
        except Exception as error:
            failure = self._adapter.failure(error)
            log.warning("a call of %s failed: %s", self.name, failure)
            raise failure from error


def open_chat_model(settings: Llm, setting: str = "llm.model") -> ChatModel | None:
    """Return the model that `settings.model` names, not loaded yet; None for "none".

    Raises `ConfigError` for a model or an installation that is not there, naming `setting` and the way out.
    """
    spec = parse_model_spec(settings.model, setting)
    if spec is None:
        return None
    return _open_endpoint(spec, settings) if isinstance(spec, Endpoint) else _open_file(spec, settings)


def _open_endpoint(endpoint: Endpoint, settings: Llm) -> ChatModel:
    from condensery.models.endpoint import EndpointAdapter

    adapter = EndpointAdapter(endpoint, settings)
    return ChatModel(adapter.llm, name=endpoint.model, context_window=settings.context_window, adapter=adapter)


def _open_file(file: LocalFile, settings: Llm) -> ChatModel:
    try:
        from condensery.models.local import LocalAdapter
    except ModuleNotFoundError as error:
        if error.name not in {"llama_cpp", "llama_index.llms.llama_cpp"}:
            raise
        message = "a local model needs llama.cpp; pip install 'condensery[local]' (it needs a C++ compiler)"
        raise ConfigError(message) from error
    adapter = LocalAdapter(file.path, settings)
    window = adapter.context_window
    return ChatModel(adapter.llm, name=adapter.name, context_window=window, capable=not file.bundled, adapter=adapter)


def _options(max_tokens: int, stop: Sequence[str], json_schema: Json | None, background: bool) -> Json:
    options: Json = {"max_tokens": max_tokens, "background": background}
    if stop:
        options["stop"] = list(stop)
    if json_schema is not None:
        named = {"name": "reply", "schema": json_schema, "strict": True}
        options["response_format"] = {"type": "json_schema", "json_schema": named}
    return options


def _thought(response: "ChatResponse") -> bool:
    """Whether the response carries reasoning in a field of its own."""
    return any(block.block_type == "thinking" and getattr(block, "content", None) for block in response.message.blocks)


def _finish_reason(response: "ChatResponse | None") -> FinishReason:
    raw = response.raw if response is not None else None
    if isinstance(raw, dict):
        return "length" if raw.get("finish_reason") == "length" else "stop"
    choices = getattr(raw, "choices", None) or [None]
    return "length" if getattr(choices[0], "finish_reason", None) == "length" else "stop"
