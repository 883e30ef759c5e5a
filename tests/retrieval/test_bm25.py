"""Lexical search: what the library gets wrong, and how fresh the index is."""

import asyncio
import math

import pytest
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events.retrieval import RetrievalEndEvent
from llama_index_instrumentation import get_dispatcher

from condensery.retrieval import bm25 as bm25_module
from condensery.retrieval.bm25_index import Bm25Index, ScopedBm25Retriever
from condensery.retrieval.types import Chunk, Probe, Scope

from .conftest import Library

ALL = Scope()


def chunk(number: int, text: str, **fields: object) -> Chunk:
    return Chunk.model_validate({"id": f"c{number}", "text": text, "source": f"{number:03}.txt", **fields})


def found(index: Bm25Index, question: str, scope: Scope = ALL, limit: int = 20) -> list[str]:
    return [chunk.id for chunk, _ in index.search([Probe(text=question)], scope, limit)]


def test_the_best_match_comes_first() -> None:
    index = Bm25Index([chunk(1, "cat and dog and bird"), chunk(2, "dog dog"), chunk(3, "fish")])
    assert found(index, "a dog") == ["c2", "c1"]


def test_title_and_heading_are_searched_too() -> None:
    index = Bm25Index([chunk(1, "Within 30 days.", title="Guide", heading="Refunds"), chunk(2, "Other.")])
    assert found(index, "guide refunds") == ["c1"]


def test_a_chunk_without_a_common_term_is_no_hit() -> None:
    index = Bm25Index([chunk(1, "cat"), chunk(2, "dog")])
    assert found(index, "rockets") == []
    assert all(score > 0 for _, score in index.search([Probe(text="cat")], ALL, 20))


def test_filtered_out_chunks_are_not_returned_and_do_not_count() -> None:
    index = Bm25Index([chunk(n, "the same words", metadata={"team": "a" if n == 7 else "b"}) for n in range(30)])
    assert found(index, "same words", Scope(filters={"team": "a"}), limit=3) == ["c7"]
    assert len(found(index, "same words", Scope(filters={"team": "b"}), limit=30)) == 29


def test_no_chunks_no_terms_and_no_question_find_nothing() -> None:
    for chunks in ([], [chunk(1, "")], [chunk(1, "the of")], [chunk(1, " "), chunk(2, "👍")]):
        assert found(Bm25Index(chunks), "the of dog") == []
    index = Bm25Index([chunk(1, "dog"), chunk(2, "the of"), chunk(3, "")])
    assert found(index, "dog") == ["c1"]
    assert found(index, "the of") == found(index, "") == found(index, "\x00") == []


def test_japanese_is_found() -> None:
    index = Bm25Index([chunk(1, "先月の請求書を送ってください。"), chunk(2, "会議は三時に始まります。")])
    assert found(index, "請求書") == ["c1"]


def test_the_limit_follows_the_corpus_as_it_grows() -> None:
    small = Bm25Index([chunk(0, "dog")])
    assert found(small, "dog") == ["c0"]
    grown = Bm25Index([chunk(n, "dog") for n in range(100)], previous=small)
    assert len(found(grown, "dog")) == 20


def test_equal_scores_come_in_the_order_of_the_chunks() -> None:
    index = Bm25Index([chunk(n, "dog") for n in range(50)])
    assert found(index, "dog", limit=5) == ["c0", "c1", "c2", "c3", "c4"]


def test_an_index_that_reuses_terms_ranks_like_a_new_one() -> None:
    chunks = [chunk(n, f"dog number{n} " + "cat " * n) for n in range(10)]
    cats = [Probe(text="cat number7")]
    reused = Bm25Index(chunks, previous=Bm25Index(chunks[:5]))
    assert reused.rank(cats, ALL, 10) == Bm25Index(chunks).rank(cats, ALL, 10)


def test_a_probe_counts_as_much_as_its_weight() -> None:
    index = Bm25Index([chunk(1, "dog"), chunk(2, "cat"), chunk(3, "fish")])
    asked, carried = Probe(text="dog"), Probe(text="cat", lexical=0.25)
    (first, dog), (second, cat) = index.rank([asked, carried], ALL, 10)
    assert (first.id, second.id) == ("c1", "c2")
    assert cat == pytest.approx(dog / 4)
    assert index.rank([asked, Probe(text="cat", lexical=0)], ALL, 10) == [(first, dog)]
    assert index.rank([], ALL, 10) == []


def test_a_score_means_about_the_same_in_few_and_in_many_documents() -> None:
    small, large = ([chunk(n, f"plain words number{n}") for n in range(size)] for size in (20, 2000))
    scores = [Bm25Index(chunks).rank([Probe(text="number7")], ALL, 1)[0][1] for chunks in (small, large)]
    assert scores[0] == pytest.approx(scores[1], rel=0.25)


def test_rare_terms_weigh_more_and_unknown_ones_most() -> None:
    index = Bm25Index([chunk(1, "dog cat"), chunk(2, "dog"), chunk(3, "dog")])
    assert 0 < index.idf("dog") < index.idf("cat") < index.idf("unicorn")
    assert index.idf("cat") == pytest.approx(math.log(1 + 2.5 / 1.5))
    assert Bm25Index([]).idf("dog") > 0


def test_llama_index_sees_each_search_and_never_another_scope() -> None:
    seen: list[list[str]] = []

    class Handler(BaseEventHandler):
        def handle(self, event: object, **_: object) -> None:
            if isinstance(event, RetrievalEndEvent):
                seen.append([node.node_id for node in event.nodes])

    dispatcher = get_dispatcher()
    dispatcher.add_event_handler(Handler())
    try:
        index = Bm25Index([chunk(1, "dog", namespace="a"), chunk(2, "dog", namespace="b")])
        assert found(index, "dog", Scope(namespaces=("b",))) == ["c2"]
    finally:
        dispatcher.event_handlers.pop()
    assert seen == [["c2"]]
    nodes = ScopedBm25Retriever(index, [Probe(text="dog")], Scope(namespaces=("a",)), 5).retrieve("dog")
    assert [(node.node_id, node.text, node.metadata["namespace"]) for node in nodes] == [("c1", "dog", "a")]


async def test_the_index_is_loaded_from_chunks_that_only_the_database_has(library: Library) -> None:
    await library.add({"a.txt": "The lantern hangs high."})
    fresh = bm25_module.Bm25Cache(library.documents)
    assert [chunk.source for chunk, _ in (await fresh.current()).search([Probe(text="lantern")], ALL, 5)] == ["a.txt"]


async def test_an_empty_database_answers_with_nothing(library: Library) -> None:
    assert await library.search("anything", "bm25") == []


async def test_a_change_is_seen_by_the_next_search(library: Library) -> None:
    await library.add({"a.txt": "The lantern hangs high."})
    assert await library.sources("lantern", "bm25") == {"a.txt"}
    await library.add({"a.txt": "The kettle boils.", "b.txt": "A lantern of glass."})
    assert await library.sources("lantern", "bm25") == {"b.txt"}
    await library.documents.remove("b.txt", "default")
    assert await library.sources("lantern", "bm25") == set()


async def test_searches_that_need_a_new_index_share_one_build(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    await library.add({"a.txt": "The lantern hangs high."})
    builds = 0

    def counting(*arguments: object) -> Bm25Index:
        nonlocal builds
        builds += 1
        return Bm25Index(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(bm25_module, "Bm25Index", counting)
    await asyncio.gather(*(library.search("lantern", "bm25") for _ in range(20)))
    assert builds == 1


async def test_a_search_that_is_cancelled_does_not_stop_the_build_for_others(library: Library) -> None:
    await library.add({"a.txt": "The lantern hangs high."})
    impatient = asyncio.create_task(library.search("lantern", "bm25"))
    patient = asyncio.create_task(library.search("lantern", "bm25"))
    await asyncio.sleep(0.005)
    impatient.cancel()
    assert [result.chunk.source for result in await patient] == ["a.txt"]


async def test_a_build_that_fails_is_tried_again(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    await library.add({"a.txt": "The lantern hangs high."})
    with monkeypatch.context() as patch:
        patch.setattr(bm25_module, "Bm25Index", None)
        with pytest.raises(TypeError):
            await library.search("lantern", "bm25")
    assert await library.sources("lantern", "bm25") == {"a.txt"}


async def test_results_say_how_they_were_found(library: Library) -> None:
    await library.add({"a.txt": "The lantern hangs high.", "b.txt": "One lantern."})
    results = await library.search("lantern", "bm25")
    assert [result.trace.arms["bm25"].rank for result in results] == [1, 2]
    assert [result.trace.arms["bm25"].score for result in results] == [result.score for result in results]


async def test_a_build_that_runs_is_over_when_the_cache_is_closed(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    await library.add({"a.txt": "The lantern hangs high."})
    reading = asyncio.Event()
    ended: list[BaseException] = []

    async def endless() -> None:
        reading.set()
        try:
            await asyncio.Event().wait()
        except BaseException as error:
            ended.append(error)
            raise

    monkeypatch.setattr(library.documents, "all_chunks", endless)
    search = asyncio.create_task(library.search("lantern", "bm25"))
    await reading.wait()
    await library.parts.bm25.close()
    assert [type(error) for error in ended] == [asyncio.CancelledError]
    await asyncio.gather(search, return_exceptions=True)


async def test_closing_a_cache_that_built_nothing_or_is_done_is_fine(library: Library) -> None:
    await library.parts.bm25.close()
    await library.add({"a.txt": "The lantern hangs high."})
    await library.search("lantern", "bm25")
    await library.parts.bm25.close()
