"""The table of methods."""

import pytest

from condensery.errors import UnknownName
from condensery.retrieval.methods import METHODS, open_retriever

from .conftest import Library


def test_the_methods_are_these() -> None:
    assert sorted(METHODS) == ["bm25", "hybrid", "semantic"]


async def test_an_unknown_method_is_refused_with_the_choices(library: Library) -> None:
    with pytest.raises(UnknownName, match="no retrieval method 'bm52'; choose one of bm25, hybrid, semantic"):
        open_retriever("bm52", library.parts)


@pytest.mark.parametrize("method", sorted(METHODS))
async def test_odd_questions_find_nothing_and_no_question_fails(library: Library, method: str) -> None:
    await library.add({f"{number}.txt": f"Lantern number {number}." for number in range(4)})
    for question in ("", " ", "the of", "\x00", "\ud800", "👍", "x" * 20_000, "'; --", "%s {} \\"):
        assert await library.search(question, method) == []
    assert len(await library.search("lantern \x00 '; --", method, limit=2)) == 2


@pytest.mark.parametrize("method", sorted(METHODS))
async def test_results_come_best_first_without_repeats(library: Library, method: str) -> None:
    await library.add({f"{number}.txt": "Lantern " * (number + 1) + "and kettle." for number in range(8)})
    results = await library.search("lantern", method, limit=5)
    assert len({result.chunk.id for result in results}) == len(results) == 5
    assert [result.score for result in results] == sorted((result.score for result in results), reverse=True)
