"""A local model that reads the beginning of the next prompt while nobody waits for it."""

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from llama_index.core.llms import ChatMessage

from condensery.errors import ProviderError
from condensery.models.chat import ChatModel, open_chat_model
from condensery.models.llama_reading import STEP
from condensery.settings import Llm

STORY = "The river rises in the hills, passes three bridges and ends in a lake. " * 12
TALK = [
    ChatMessage(role="system", content="Be brief."),
    ChatMessage(role="user", content="Tell me about the river."),
    ChatMessage(role="assistant", content=STORY),
]
NEXT = [[*TALK, ChatMessage(role="user", content=text)] for text in ("a", "b")]
ASKED = [*TALK, ChatMessage(role="user", content="How many bridges are there?")]


class Reads:
    """Counts the tokens that the model reads, call by call."""

    def __init__(self, chat: ChatModel) -> None:
        self.counts: list[int] = []
        self.llm = chat._adapter.llm
        model = chat._adapter.llm._runtime._owner._model  # type: ignore[attr-defined]
        self.evaluate = model.eval
        model.eval = self.eval

    def eval(self, tokens: list[int]) -> None:
        self.counts.append(len(tokens))
        self.evaluate(tokens)


@pytest.fixture
async def chat(gguf: Path) -> AsyncIterator[ChatModel]:
    chat = open_chat_model(Llm(context_window=1024, max_output_tokens=32, threads=1))
    assert chat is not None
    await chat.complete([ChatMessage(role="user", content="Hi")], max_tokens=1)
    yield chat
    await chat.close()


async def test_what_was_read_ahead_is_not_read_again_and_the_reply_is_the_same(chat: ChatModel) -> None:
    alone = await chat.complete(ASKED, max_tokens=5)
    await chat.complete([ChatMessage(role="user", content="Hi")], max_tokens=1)
    chat._adapter.llm._runtime._owner._prefixes._copies.clear()  # type: ignore[attr-defined]
    reads = Reads(chat)
    await chat.read_ahead(*NEXT)
    assert sum(reads.counts) > 200
    reads.counts.clear()
    assert await chat.complete(ASKED, max_tokens=5) == alone
    assert reads.counts[0] < 30


async def test_a_call_ends_the_reading_and_keeps_what_was_read(chat: ChatModel) -> None:
    reads = Reads(chat)
    loop, begun, go_on = asyncio.get_running_loop(), asyncio.Event(), threading.Event()
    evaluate = reads.evaluate

    def held(tokens: list[int]) -> None:
        evaluate(tokens)
        loop.call_soon_threadsafe(begun.set)
        go_on.wait(timeout=60)

    reads.evaluate = held
    reading = asyncio.create_task(chat.read_ahead(*NEXT))
    await begun.wait()
    reply = asyncio.create_task(chat.complete(ASKED, max_tokens=1))
    async with asyncio.timeout(60):
        await stopped(chat)
    go_on.set()
    await reading
    await reply
    assert reads.counts[0] == STEP
    assert reads.counts[1] > STEP


async def stopped(chat: ChatModel) -> None:
    """Return once every reading was told to stop."""
    readings = chat._adapter.llm._runtime._readings  # type: ignore[attr-defined]
    while not all(reading.stopped for reading in readings):  # noqa: ASYNC110
        await asyncio.sleep(0.01)


async def test_a_model_that_is_not_loaded_stays_so(gguf: Path) -> None:
    chat = open_chat_model(Llm())
    assert chat is not None
    await chat.read_ahead(*NEXT)
    assert chat._adapter.llm._runtime._owner._model is None  # type: ignore[attr-defined]
    await chat.close()
    with pytest.raises(ProviderError, match="closed"):
        await chat.read_ahead(*NEXT)


async def test_what_does_not_fit_the_window_is_not_read(chat: ChatModel) -> None:
    reads = Reads(chat)
    await chat.read_ahead(*([ChatMessage(role="user", content=STORY * 8), *prompt] for prompt in NEXT))
    assert reads.counts == []
