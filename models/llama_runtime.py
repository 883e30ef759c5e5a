"""One thread that owns a llama.cpp model: one sequence, one call at a time, cancellable at any moment.

A `Llama` is not thread-safe and blocks while it computes, so only the owner thread touches it. Calls wait in a bounded
queue, interactive ones first; the pieces of text go to the caller as they are made.
"""

import asyncio
import logging
import queue
from collections.abc import AsyncGenerator, Callable, Collection, Generator, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from condensery.errors import CondenseryError, ProviderError
from condensery.models.decoding import TextDecoder
from condensery.models.llama_grammar import grammar_of
from condensery.models.llama_prefixes import PrefixCache
from condensery.models.llama_reading import Reading, read_ahead
from condensery.models.llama_vocabulary import is_end, token_bytes
from condensery.models.types import FinishReason
from condensery.models.verdicts import masses
from condensery.models.worker import Worker

if TYPE_CHECKING:
    from llama_cpp import Llama

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Request:
    """One generation: the prompt's tokens, at most `max_tokens` new ones. `schema`: the JSON schema of the reply."""

    tokens: tuple[int, ...]
    max_tokens: int
    stop: tuple[str, ...] = ()
    schema: dict[str, Any] | None = None
    temperature: float = 0.0
    background: bool = False


class Piece(NamedTuple):
    """A piece of the reply, never half a character; the last one carries the reason for the end."""

    text: str
    finish_reason: FinishReason | None = None


class LlamaRuntime:
    """The owner thread and its queue. `load` runs in the thread, with the first call.

    Raises from every call: `Busy` (the queue is full), `ProviderError` (the model failed, or the runtime is closed),
    and what `load` raises.
    """

    def __init__(self, load: "Callable[[], Llama]", *, queue_size: int) -> None:
        self._owner = _Owner(load)
        self._readings: set[Reading] = set()
        self._worker = Worker("local model", limit=queue_size, interrupt=self._owner.interrupt, at_end=self._owner.free)

    @property
    def waiting(self) -> int:
        """Calls that wait for the model."""
        return self._worker.waiting

    async def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        """Yield the reply as it is made. Closing the iterator stops the model, also while it reads the prompt."""
        loop = asyncio.get_running_loop()
        pieces: asyncio.Queue[Piece | None] = asyncio.Queue()
        call = _Call(request, lambda piece: loop.call_soon_threadsafe(pieces.put_nowait, piece))
        done = self._submit(call)
        try:
            while (piece := await pieces.get()) is not None:
                yield piece
            _raise_failure(done)
        finally:
            call.cancel(done)

    def stream_sync(self, request: Request) -> Generator[Piece, None, None]:
        """Yield the reply as it is made, blocking the calling thread in between."""
        pieces: queue.SimpleQueue[Piece | None] = queue.SimpleQueue()
        call = _Call(request, pieces.put)
        done = self._submit(call)
        try:
            while (piece := pieces.get()) is not None:
                yield piece
            _raise_failure(done)
        finally:
            call.cancel(done)

    async def weigh(self, request: Request, choices: Sequence[Collection[int]]) -> list[float]:
        """Return the probabilities that the reply begins with a token of each choice; only the prompt is read."""
        call = _Call(request, lambda piece: None)
        self._stop_readings()
        done = self._worker.submit(partial(self._owner.weigh, call, choices), background=request.background)
        try:
            await asyncio.wait([asyncio.wrap_future(done)])
            _raise_failure(done)
            return done.result()
        finally:
            call.cancel(done)

    async def read(self, tokens: Sequence[int]) -> None:
        """Read what later prompts will begin with, in the background; whatever else is asked for ends it early.

        What was read until then stays of use. Cancelling it stops it, too.
        """
        reading = Reading(tuple(tokens))
        self._readings.add(reading)
        try:
            await self._worker.run(partial(self._owner.read, reading), background=True)
        finally:
            reading.stop()
            self._readings.discard(reading)

    def _stop_readings(self) -> None:
        for reading in list(self._readings):
            reading.stop()

    def _submit(self, call: "_Call") -> "Future[None]":
        self._stop_readings()
        done = self._worker.submit(partial(self._owner.generate, call), background=call.request.background)
        done.add_done_callback(lambda _: call.deliver(None))
        return done

    def close(self) -> None:
        """Stop the running call, refuse the others, free the model and wait for the thread; safe to call twice."""
        self._worker.close()


class _Call:
    def __init__(self, request: Request, sink: "Callable[[Piece | None], object]") -> None:
        self.request, self._sink = request, sink
        self.cancelled = False

    def deliver(self, piece: Piece | None) -> None:
        try:
            self._sink(piece)
        except RuntimeError:  # the caller's event loop is closed: nobody waits for this text
            self.cancelled = True

    def cancel(self, done: "Future[Any]") -> None:
        self.cancelled = True
        done.cancel()


def _raise_failure(done: "Future[Any]") -> None:
    if done.cancelled():
        raise ProviderError("the local model was closed while a call waited for it; open it again")
    done.result()


class _Owner:
    """What the thread works with. It holds no reference to the runtime, so that a forgotten runtime is collected."""

    def __init__(self, load: "Callable[[], Llama]") -> None:
        self._load = load
        self._model: Llama | None = None
        self._abort_callback: Any = None  # llama.cpp keeps the address only
        self._prefixes = PrefixCache()
        self._call: _Call | Reading | None = None
        self._closing = False

    def interrupt(self) -> None:
        self._closing = True

    def free(self) -> None:
        if self._model is not None:
            self._model.close()
            self._model, self._prefixes = None, PrefixCache()

    def generate(self, call: _Call) -> None:
        with self._working(call):
            self._generate(call, self._loaded())

    def weigh(self, call: _Call, choices: Sequence[Collection[int]]) -> list[float]:
        with self._working(call):
            return self._weigh(call, self._loaded(), choices)
        return []  # nobody waits for it any more

    def read(self, reading: Reading) -> None:
        if self._model is not None and not reading.stopped:
            with self._working(reading):
                read_ahead(self._model, reading, self._prefixes)

    @contextmanager
    def _working(self, call: "_Call | Reading") -> Iterator[None]:
        self._call = call
        try:
            yield
        except CondenseryError:
            raise
        except Exception as error:
            self._recover(error)
        finally:
            self._call = None
        if self._closing and not call.cancelled:
            raise ProviderError("the local model was closed during a call; open it again")

    def _recover(self, error: Exception) -> None:
        """After an aborted or failed evaluation the model's memory is unknown: the next call starts from nothing."""
        if self._model is not None:
            self._model.reset()  # type: ignore[no-untyped-call]
        if not self._stopped():
            log.error("the local model failed", exc_info=error)
            raise ProviderError("the local model failed; the log has the details") from error

    def _stopped(self, _: object = None) -> bool:
        return self._closing or self._call is None or self._call.cancelled

    def _loaded(self) -> "Llama":
        if self._model is None:
            import llama_cpp

            self._model = self._load()
            self._abort_callback = llama_cpp.ggml_abort_callback(self._stopped)
            llama_cpp.llama_set_abort_callback(self._model.ctx, self._abort_callback, None)
        return self._model

    def _generate(self, call: _Call, model: "Llama") -> None:
        text = TextDecoder(call.request.stop)
        reason: FinishReason = "stop"
        for made, token in enumerate(self._tokens(call.request, model), start=1):
            if self._stopped() or is_end(model, token):
                break
            if piece := text.feed(token_bytes(model, token)):
                call.deliver(Piece(piece))
            if text.stopped:
                break
            if made == call.request.max_tokens:
                reason = "length"
                break
        call.deliver(Piece(text.finish(), reason))

    def _weigh(self, call: _Call, model: "Llama", choices: Sequence[Collection[int]]) -> list[float]:
        import llama_cpp
        import numpy as np

        tokens = self._tokens(call.request, model)
        next(tokens)  # reads the prompt; the token itself is not wanted
        tokens.close()
        self._prefixes.pass_over()
        logits = llama_cpp.llama_get_logits_ith(model.ctx, -1)
        return masses(np.ctypeslib.as_array(logits, shape=(model.n_vocab(),)), choices)

    def _tokens(self, request: Request, model: "Llama") -> Generator[int, Any, None]:
        self._prefixes.prepare(model, request.tokens)
        grammar = grammar_of(request.schema) if request.schema is not None else None
        return model.generate(list(request.tokens), temp=request.temperature, grammar=grammar)
