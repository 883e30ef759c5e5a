"""The owner thread around the real bundled model. `Watched` makes the model's progress visible and can hold it."""

import asyncio
import gc
import json
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.llms import ChatMessage

from condensery.errors import Busy, ConfigError, ProviderError
from condensery.models.chat import ChatModel
from condensery.models.llama import LlamaLLM
from condensery.models.llama_runtime import LlamaRuntime, Piece, Request
from condensery.models.llama_vocabulary import Vocabulary, load_llama

PATIENCE = 60


class Watched:
    """Loads the model, counts the tokens it makes, keeps the prompts it reads, and holds it where a test says."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.made = 0
        self.prompts: list[list[int]] = []
        self.aborted = threading.Event()
        self.reading = threading.Event()
        self.before_reading: Callable[[], object] = lambda: None
        self.after_token: Callable[[int], object] = lambda made: None

    def load(self) -> Any:
        model: Any = load_llama(self.path, n_ctx=4096, n_threads=1, n_threads_batch=1)
        generate, decode = model.generate, model._ctx.decode

        def watched_generate(tokens: list[int], **options: Any) -> Iterator[int]:
            self.prompts.append(tokens)
            for token in generate(tokens, **options):
                self.made += 1
                yield token
                self.after_token(self.made)

        def watched_decode(batch: Any) -> None:
            self.reading.set()
            self.before_reading()
            try:
                decode(batch)
            except RuntimeError:
                self.aborted.set()
                raise

        model.generate, model._ctx.decode = watched_generate, watched_decode
        return model


@pytest.fixture
def watched(gguf: Path) -> Watched:
    return Watched(gguf)


@pytest.fixture
async def runtime(watched: Watched) -> AsyncIterator[LlamaRuntime]:
    runtime = LlamaRuntime(watched.load, queue_size=4)
    yield runtime
    await asyncio.to_thread(runtime.close)


@pytest.fixture
def ask(gguf: Path) -> Callable[..., Request]:
    """Makes a request of a question, in SmolLM2's own format."""
    vocabulary = Vocabulary(gguf)

    def request(question: str, max_tokens: int = 24, **options: Any) -> Request:
        prompt = f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"
        return Request(tokens=tuple(vocabulary.tokenize(prompt)), max_tokens=max_tokens, **options)

    return request


async def text_of(runtime: LlamaRuntime, request: Request) -> str:
    return "".join([piece.text async for piece in runtime.stream(request)])


async def until(reached: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not reached():  # noqa: ASYNC110
            await asyncio.sleep(0.002)


Ask = Callable[..., Request]


async def test_two_calls_at_once_give_the_texts_that_each_gives_alone(runtime: LlamaRuntime, ask: Ask) -> None:
    requests = [ask("What is the capital of Norway?"), ask("Write one sentence about bread.")]
    alone = [await text_of(runtime, request) for request in requests]
    together = await asyncio.gather(*(text_of(runtime, request) for request in requests))
    assert together == alone
    assert alone[0] != alone[1]


async def test_a_stream_stopped_after_three_pieces_stops_the_model_and_the_same_call_runs_again(
    runtime: LlamaRuntime, watched: Watched, ask: Ask
) -> None:
    request = ask("Tell me a story about a river.", max_tokens=60)
    closed = threading.Event()
    watched.after_token = lambda made: closed.wait(PATIENCE) if made == 4 else None
    async with aclosing(runtime.stream(request)) as pieces:
        begun = [(await anext(pieces)).text for _ in range(3)]
    closed.set()
    again = await text_of(runtime, request)
    assert watched.made <= 5 + 60
    assert again.startswith("".join(begun))
    assert watched.prompts == [list(request.tokens)] * 2


async def test_closing_the_stream_of_a_chat_model_stops_the_model_underneath(
    runtime: LlamaRuntime, watched: Watched, gguf: Path
) -> None:
    llm = LlamaLLM(gguf)
    llm._runtime = runtime
    closed = threading.Event()
    watched.after_token = lambda made: closed.wait(PATIENCE) if made == 12 else None
    asked = [ChatMessage(role="user", content="Tell me a long story about a river.")]
    async with aclosing(ChatModel(llm, name="local").stream(asked, max_tokens=300)) as pieces:
        assert await anext(pieces)
    for _ in range(5):  # the loop finishes LlamaIndex's abandoned wrapper in a task of its own
        await asyncio.sleep(0)
    closed.set()
    await llm.achat(asked, max_tokens=2)
    assert watched.made <= 12 + 1 + 2


async def test_stopping_while_the_prompt_is_read_ends_the_reading_and_the_next_call_runs(
    runtime: LlamaRuntime, watched: Watched, ask: Ask
) -> None:
    stopped = threading.Event()
    watched.before_reading = lambda: stopped.wait(PATIENCE)
    reading = asyncio.create_task(text_of(runtime, ask("word " * 2000)))
    assert await asyncio.to_thread(watched.reading.wait, PATIENCE)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    stopped.set()
    assert "Oslo" in await text_of(runtime, ask("What is the capital of Norway?"))
    assert watched.aborted.is_set()
    assert watched.made < 30


async def test_a_queued_call_that_is_cancelled_never_reaches_the_model(
    runtime: LlamaRuntime, watched: Watched, ask: Ask
) -> None:
    release = threading.Event()
    watched.before_reading = lambda: release.wait(PATIENCE)
    first, third = ask("Say one."), ask("Say three.")
    running = asyncio.create_task(text_of(runtime, first))
    assert await asyncio.to_thread(watched.reading.wait, PATIENCE)
    queued = asyncio.create_task(text_of(runtime, ask("Say two.")))
    last = asyncio.create_task(text_of(runtime, third))
    await until(lambda: runtime.waiting == 2)
    queued.cancel()
    release.set()
    await asyncio.gather(running, last)
    assert watched.prompts == [list(first.tokens), list(third.tokens)]


async def test_fifty_calls_at_once_fill_a_bounded_queue_and_the_rest_are_told_busy(
    runtime: LlamaRuntime, watched: Watched, ask: Ask
) -> None:
    release = threading.Event()
    watched.before_reading = lambda: release.wait(PATIENCE)
    request = ask("Say one.", max_tokens=2)
    calls = [asyncio.create_task(text_of(runtime, request))]
    assert await asyncio.to_thread(watched.reading.wait, PATIENCE)
    calls += [asyncio.create_task(text_of(runtime, request)) for _ in range(49)]
    await until(lambda: sum(call.done() for call in calls) == 45)
    assert await asyncio.to_thread(lambda: "the thread pool is free") == "the thread pool is free"
    release.set()
    results = await asyncio.gather(*calls, return_exceptions=True)
    assert sum(isinstance(result, Busy) for result in results) == 45
    assert len({result for result in results if isinstance(result, str)}) == 1


async def test_the_first_piece_arrives_before_the_model_makes_the_second_and_other_tasks_go_on(
    runtime: LlamaRuntime, watched: Watched, ask: Ask
) -> None:
    arrived = threading.Event()
    waited: list[bool] = []
    watched.after_token = lambda made: waited.append(arrived.wait(PATIENCE)) if made == 1 else None
    ticks = 0

    async def ticker() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.001)
            ticks += 1

    task = asyncio.create_task(ticker())
    seen = []
    async for piece in runtime.stream(ask("Tell me a story about a river.", max_tokens=40)):
        seen.append(ticks)
        if piece.text:
            arrived.set()
    task.cancel()
    assert waited == [True]
    assert len(seen) > 10
    assert seen[0] < seen[-1]


async def test_pieces_hold_whole_characters_and_join_to_the_same_text_as_a_blocking_call(
    runtime: LlamaRuntime, ask: Ask
) -> None:
    wanted = "naïve 請求書 🙂👍🏽 ありがとう"
    request = ask("Repeat it.", max_tokens=200, schema={"const": wanted})
    pieces = [piece async for piece in runtime.stream(request)]
    blocking = await asyncio.to_thread(lambda: list(runtime.stream_sync(request)))
    assert json.loads("".join(piece.text for piece in pieces)) == wanted
    assert "".join(piece.text for piece in blocking) == "".join(piece.text for piece in pieces)
    assert len(pieces) > 10
    assert not any("\ufffd" in piece.text for piece in pieces)


async def test_a_reply_says_why_it_ended(runtime: LlamaRuntime, ask: Ask) -> None:
    async def last(request: Request) -> Piece:
        return [piece async for piece in runtime.stream(request)][-1]

    assert (await last(ask("What is the capital of Norway?", max_tokens=40))).finish_reason == "stop"
    assert (await last(ask("Tell me a story.", max_tokens=3))).finish_reason == "length"
    assert (await last(ask("Tell me a story.", max_tokens=40, stop=(" ",)))).finish_reason == "stop"


async def test_a_failing_model_is_a_provider_error_and_the_next_call_runs(
    runtime: LlamaRuntime, watched: Watched, ask: Ask, caplog: pytest.LogCaptureFixture
) -> None:
    failures = iter([OSError("/secret/path is gone")])

    def fail_once() -> None:
        if error := next(failures, None):
            raise error

    watched.before_reading = fail_once
    with pytest.raises(ProviderError, match="the log has the details") as raised:
        await text_of(runtime, ask("What is the capital of Norway?"))
    assert "/secret" not in str(raised.value)
    assert "/secret" in caplog.text
    assert "Oslo" in await text_of(runtime, ask("What is the capital of Norway?"))


async def test_closing_stops_the_running_call_and_refuses_the_waiting_one(watched: Watched, ask: Ask) -> None:
    runtime = LlamaRuntime(watched.load, queue_size=4)
    closing = threading.Event()
    watched.before_reading = lambda: closing.wait(PATIENCE)
    calls = [asyncio.create_task(text_of(runtime, ask("word " * 2000))) for _ in range(2)]
    assert await asyncio.to_thread(watched.reading.wait, PATIENCE)
    close = asyncio.create_task(asyncio.to_thread(runtime.close))
    await asyncio.wait([calls[1]])
    closing.set()
    await close
    results = await asyncio.gather(*calls, return_exceptions=True)
    assert [type(result) for result in results] == [ProviderError, ProviderError]
    assert watched.aborted.is_set()


async def test_a_file_that_is_no_model_is_a_config_error_every_time(tmp_path: Path, ask: Ask) -> None:
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF" + bytes(100))
    runtime = LlamaRuntime(lambda: load_llama(path), queue_size=1)
    for _ in range(2):
        with pytest.raises(ConfigError, match=r"llama.cpp cannot load .*broken.gguf"):
            await text_of(runtime, ask("hi"))
    await asyncio.to_thread(runtime.close)


async def test_a_runtime_that_nobody_holds_any_more_ends_its_thread(watched: Watched, ask: Ask) -> None:
    runtime = LlamaRuntime(watched.load, queue_size=1)
    await text_of(runtime, ask("hi", max_tokens=1))
    del runtime
    gc.collect()
    assert not [thread for thread in threading.enumerate() if thread.name == "local model"]


@pytest.mark.parametrize("end", ["pass", "raise SystemExit(0)"])
def test_an_interpreter_that_is_left_in_the_middle_of_a_reply_exits_in_silence(gguf: Path, end: str) -> None:
    script = (
        "import asyncio, sys\nfrom pathlib import Path\n"
        "from condensery.models.llama import LlamaLLM\n"
        f"llm = LlamaLLM(Path({str(gguf)!r}), context_window=2048)\n"
        "pieces = llm.stream_complete('Tell me a long story.', max_tokens=1500)\n"
        f"next(pieces)\n{end}"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
