"""Conversations that take turns on one real model."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from condensery.models.llama_prefixes import PrefixCache, shared
from condensery.models.llama_vocabulary import load_llama

RIVER = "The river rises in the hills, passes three bridges and ends in a lake. " * 8
BREAD = "Bread needs flour, water, salt and time, and a very hot oven at the end. " * 8


@pytest.fixture
def model(gguf: Path) -> Iterator[Any]:
    model: Any = load_llama(gguf, n_ctx=2048, n_threads=1, n_threads_batch=1)
    evaluate, model.read = model.eval, []

    def counted(tokens: list[int]) -> None:
        model.read.append(len(tokens))
        evaluate(tokens)

    model.eval = counted
    yield model
    model.close()


def reply(model: Any, text: str, cache: PrefixCache | None) -> list[int]:
    """The first four tokens of the reply."""
    tokens = model.tokenize(text.encode(), add_bos=False)
    if cache:
        cache.prepare(model, tokens)
    return [token for _, token in zip(range(4), model.generate(tokens, temp=0.0), strict=False)]


def test_a_conversation_is_not_read_again_after_another_one_and_replies_stay_the_same(model: Any) -> None:
    cache = PrefixCache()
    texts = [RIVER, BREAD, RIVER + "How many bridges are there?", BREAD + "What does bread need?"]
    model.reset()
    expected = []
    for text in texts:
        model.reset()
        expected.append(reply(model, text, None))
    model.reset()
    replies = []
    for text in texts:
        model.read.clear()
        replies.append(reply(model, text, cache))
        if len(replies) > 2:
            assert model.read[0] < 20
    assert replies == expected


def test_copies_stay_within_their_limit_and_the_oldest_goes_first(model: Any) -> None:
    cache = PrefixCache(max_bytes=4_500_000)
    for text in (RIVER, BREAD, "rain " * 150):
        reply(model, text, cache)
    sizes = [len(copy) for copy in cache._copies.values()]
    assert 0 < sum(sizes) <= 4_500_000
    model.read.clear()
    reply(model, RIVER + "And?", cache)
    assert model.read[0] > 100


def test_what_is_too_large_to_copy_is_read_again(model: Any) -> None:
    cache = PrefixCache(max_bytes=1000)
    for text in (RIVER, BREAD):
        reply(model, text, cache)
    assert not cache._copies


@pytest.mark.parametrize(
    ("first", "second", "count"), [([], [], 0), ([1], [], 0), ([1, 2, 3], [1, 2, 4], 2), ([1, 2], [1, 2, 3], 2)]
)
def test_the_shared_start_is_counted_in_tokens(first: list[int], second: list[int], count: int) -> None:
    assert shared(first, second) == count
