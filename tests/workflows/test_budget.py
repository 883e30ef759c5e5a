"""What goes first when a prompt does not fit, counted in words here."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.llms import ChatMessage

from condensery.errors import Refusal, RefusalReason
from condensery.memory.types import Remembered
from condensery.retrieval.types import Chunk, ScoredChunk
from condensery.workflows.budget import PromptParts, fit
from condensery.workflows.turn import Exchange


async def count_words(messages: Sequence[ChatMessage]) -> int:
    return sum(len((message.content or "").split()) for message in messages)


def words(count: int, word: str = "w") -> str:
    return " ".join([word] * count)


def chunk(name: str, size: int) -> ScoredChunk:
    return ScoredChunk(chunk=Chunk(id=name, text=words(size, name), source=name), score=1)


def parts(
    *, message: str = "hello", memories: int = 0, history: int = 0, chunks: int = 0, size: int = 10
) -> PromptParts:
    return PromptParts(
        system="s",
        last=lambda kept: " ".join([*(found.chunk.text for found in kept), message]),
        memories=tuple(Remembered(id=f"m{i}", kind="user", text=words(size, f"m{i}")) for i in range(memories)),
        history=tuple(
            Exchange(message=words(size // 2, f"q{i}"), answer=words(size // 2, f"a{i}")) for i in range(history)
        ),
        chunks=tuple(chunk(f"c{i}", size) for i in range(chunks)),
    )


async def test_blocks_larger_than_the_budget_are_dropped_and_the_message_is_answered() -> None:
    fitted = await fit(parts(memories=6, size=10), 50, count_words)
    assert "m0" in str(fitted.messages)
    assert "m5" not in str(fitted.messages)
    assert fitted.messages[-1].content == "hello"


async def test_memories_go_first_then_the_oldest_turns_then_the_weakest_chunks() -> None:
    full = parts(memories=2, history=2, chunks=2)
    assert "m" not in _kept(await fit(full, 42, count_words))
    after_memories = await fit(full, 32, count_words)
    assert _kept(after_memories) == {"q1", "a1", "c0", "c1", "hello", "s"}
    after_history = await fit(full, 13, count_words)
    assert _kept(after_history) == {"c0", "hello", "s"}
    assert [found.chunk.id for found in after_history.chunks] == ["c0"]


async def test_a_message_too_large_even_alone_is_refused() -> None:
    with pytest.raises(Refusal) as refused:
        await fit(parts(message=words(500), memories=1, history=1, chunks=1), 256, count_words)
    assert refused.value.reason is RefusalReason.INPUT_TOO_LARGE


@given(
    st.integers(0, 8), st.integers(0, 8), st.integers(0, 8), st.integers(2, 30), st.integers(min_value=2, max_value=400)
)
async def test_whatever_fits_holds_the_message_and_the_budget(
    memories: int, history: int, chunks: int, size: int, budget: int
) -> None:
    fitted = await fit(parts(memories=memories, history=history, chunks=chunks, size=size), budget, count_words)
    sent = " ".join(message.content for message in fitted.messages)
    assert len(sent.split()) <= budget
    assert sent.endswith("hello")
    assert [found.chunk.id for found in fitted.chunks] == [f"c{i}" for i in range(chunks) if f"c{i} " in f"{sent} "]


def _kept(fitted: object) -> set[str]:
    return set(" ".join(message.content for message in fitted.messages).split())  # type: ignore[attr-defined]
