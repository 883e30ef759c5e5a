"""The harness on small folders, with the embedded Postgres and the bundled embedding model."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any, cast

import pytest

from condensery.app import App
from condensery.errors import ConfigError, UnknownName
from condensery.evals.about import about
from condensery.evals.choices import MATRIX, engines_for, methods_for
from condensery.evals.corpus import eval_settings, index, opened_in
from condensery.evals.data import Case
from condensery.evals.folders import read_folder
from condensery.evals.judging import judge_for
from condensery.evals.results import Configuration
from condensery.evals.running import Evaluation
from condensery.evals.searching import SearchAgent, search
from condensery.retrieval.plans import METHOD_NAMES
from condensery.settings import Settings
from condensery.tests.evals.conftest import CONVERSATION, PASSAGES, TURNS, Write
from condensery.workflows.engines.base import PreparedQuery
from condensery.workflows.engines.table import ENGINES
from condensery.workflows.events import AgentCall, TurnFinished
from condensery.workflows.turn import FallbackReason, TurnKey, TurnOptions

Open = Callable[..., AbstractAsyncContextManager[App]]


@pytest.fixture
def opened(one_embedder: None, cluster: Path) -> Open:
    """Opens an app over the index of a folder, in a Postgres that the tests use one after the other."""

    @asynccontextmanager
    async def open_(folder: Path, keep: Path = cluster, **options: Any) -> AsyncIterator[App]:
        async with opened_in(keep, options.pop("settings", Settings()), **options) as app:
            await index(app, read_folder(folder), lambda done, total: None)
            yield app

    return open_


async def measured(app: App, folder: Path, engines: list[str], **options: Any) -> list[Configuration]:
    data = read_folder(folder)
    evaluation = Evaluation(app, data, await judge_for(data, app, **options), lambda name: None)
    await evaluation.run(engines, ["hybrid"])
    return evaluation.configurations()


async def test_turns_are_put_to_every_engine_and_compared_with_the_raw_message(
    turns_folder: Write, opened: Open
) -> None:
    folder = turns_folder()
    async with opened(folder) as app:
        raw, expanded = await measured(app, folder, ["simple", "expand_context"])
    assert [row.question for row in raw.rows] == [turn["message"] for turn in TURNS]
    assert [row.change for row in raw.rows] == ["same", "same"]
    assert "lamp" in (expanded.rows[0].question or "")
    assert [row.ranks for row in expanded.rows] == [(1,), (1,)]
    assert expanded.groups["all"].metrics["ndcg@10"] == 1
    assert expanded.unchanged == 0.5
    assert set(expanded.groups) == {"all", "Follow-up", "Clarification"}
    assert {"condense", "retrieve", "rerank"} <= set(expanded.ms)


async def test_a_passage_of_several_chunks_is_one_result(turns_folder: Write, opened: Open) -> None:
    long = " ".join(f"Sentence {number} about the brass lamp in the hall." for number in range(80))
    folder = turns_folder(PASSAGES | {"essay": long})
    async with opened(folder) as app:
        chunks = await app.services.documents.all_chunks()
        assert sum(chunk.source == "essay" for chunk in chunks) > 2
        (raw,) = await measured(app, folder, ["simple"])
    assert all(rank is None or rank <= len(PASSAGES) + 1 for row in raw.rows for rank in row.ranks)


async def test_whole_passages_are_one_chunk_each(turns_folder: Write, opened: Open) -> None:
    folder = turns_folder(PASSAGES | {"essay": "A sentence about goats. " * 100})
    async with opened(folder, whole=True) as app:
        assert len(await app.services.documents.all_chunks()) == len(PASSAGES) + 1


async def test_ids_of_passages_are_no_words_to_search_for(turns_folder: Write, opened: Open) -> None:
    async with opened(turns_folder()) as app:
        assert {chunk.title for chunk in await app.services.documents.all_chunks()} == {""}


async def test_a_kept_index_is_used_again_and_follows_the_data(
    turns_folder: Write, short_dir: Path, opened: Open
) -> None:
    async with opened(turns_folder(), keep=short_dir) as app:
        first = {record.source: record.ingested_at for record in await app.services.documents.list()}
    changed = {**PASSAGES, "boat": "The rowing boat on the lake seats five people.", "ship": "A ship."}
    del changed["tram"]
    async with opened(turns_folder(changed), keep=short_dir) as app:
        second = {record.source: record.ingested_at for record in await app.services.documents.list()}
    assert set(second) == set(changed)
    assert [source for source in first.keys() & second.keys() if first[source] != second[source]] == ["boat"]


def test_measuring_never_uses_the_database_of_the_person(tmp_path: Path) -> None:
    given = Settings.model_validate({"data_dir": tmp_path / "own", "database_url": "postgresql://me:secret@host/db"})
    settings = eval_settings(given, tmp_path / "measuring")
    assert settings.database_url is None
    assert settings.data_dir == tmp_path / "measuring"


def test_results_reach_ten_deep_without_changing_what_fusion_sees(tmp_path: Path) -> None:
    settings = eval_settings(Settings(), tmp_path)
    assert settings.retrieval.top_k == settings.retrieval.candidates == Settings().retrieval.candidates
    assert settings.rerank.candidates == settings.rerank.top_n == Settings().rerank.candidates
    assert eval_settings(Settings(), tmp_path, deep=False).retrieval == Settings().retrieval


async def test_facts_of_a_conversation_are_found_in_chunks_of_their_file(chat_folder: Write, opened: Open) -> None:
    folder = chat_folder()
    async with opened(folder) as app:
        raw, expanded = await measured(app, folder, ["simple", "expand_context"])
    assert [row.case for row in raw.rows] == ["lamps #1", "lamps #2", "lamps #4"]
    assert [row.follow_up for row in raw.rows] == [False, True, False]
    assert expanded.rows[1].ranks == (1,)
    assert expanded.groups["follow_ups"].turns == 1
    assert expanded.groups["standalone+topic_shift"].turns == 2
    assert [row.ranks for row in expanded.rows if row.kind == "topic_shift"] == [(1,)]


def changed(number: int, relevant: list[dict[str, str]]) -> dict[str, Any]:
    conversation = deepcopy(CONVERSATION)
    conversation["turns"][number]["relevant"] = relevant
    return conversation


async def test_several_facts_count_each(chat_folder: Write, opened: Open) -> None:
    facts = [("lamps.md", "It is made of brass."), ("rooms/boats.md", "The rowing boat")]
    conversation = changed(1, [{"source": source, "fact": fact} for source, fact in facts])
    conversation["turns"][1]["message"] = "What is made of brass, and is there a rowing boat?"
    folder = chat_folder(conversation)
    async with opened(folder) as app:
        (raw,) = await measured(app, folder, ["simple"])
    assert len(raw.rows[1].ranks) == 2
    assert raw.rows[1].metrics["recall@1"] == 0.5
    assert raw.rows[1].metrics["recall@5"] == 1


@pytest.mark.parametrize(
    ("source", "fact", "reason"),
    [
        ("lamps.md", "It is made of tin.", "lamps.md does not hold the fact 'It is made of tin.'; write it as"),
        ("lamps.md", "The rowing boat", "lamps.md does not hold the fact 'The rowing boat'; rooms/boats.md has it"),
        ("lamp.md", "brass", "the corpus has no file 'lamp.md'; it has lamps.md, rooms/boats.md"),
    ],
)
async def test_a_fact_that_is_not_in_the_corpus_is_named_by_file_and_line(
    chat_folder: Write, source: str, fact: str, reason: str, opened: Open
) -> None:
    folder = chat_folder(changed(1, [{"source": source, "fact": fact}]))
    lines = (folder / "conversations" / "lamps.json").read_text().splitlines()
    line = next(number for number, text in enumerate(lines, start=1) if f'"fact": "{fact}"' in text)
    async with opened(folder) as app:
        with pytest.raises(ConfigError) as refused:
            await judge_for(read_folder(folder), app)
        assert str(refused.value).startswith(f"{folder / 'conversations' / 'lamps.json'}:{line}: {reason}")
        (raw,) = await measured(app, folder, ["simple"], missing_too=True)
    assert raw.rows[1].ranks == (None,)


async def test_a_fact_across_two_chunks_is_a_warning_and_never_found(chat_folder: Write, opened: Open) -> None:
    folder = chat_folder(changed(1, [{"source": "lamps.md", "fact": "It is made of brass. Oil it in May."}]))
    async with opened(folder) as app:
        judge = await judge_for(read_folder(folder), app)
    (warning,) = judge.warnings
    assert "lies across two chunks of lamps.md" in warning


async def test_a_corpus_with_a_file_that_cannot_be_read_is_refused(chat_folder: Write, opened: Open) -> None:
    folder = chat_folder()
    (folder / "corpus" / "broken.pdf").write_bytes(b"no PDF")
    with pytest.raises(ConfigError, match=r"broken\.pdf"):
        async with opened(folder):
            pass


async def test_unknown_engines_and_methods_list_the_choices(turns_folder: Write, opened: Open) -> None:
    async with opened(turns_folder()) as app:
        with pytest.raises(UnknownName) as no_engine:
            await engines_for(app.services, ["condens"])
        with pytest.raises(UnknownName) as no_method:
            methods_for(app.services, ["hybrd"])
    assert no_engine.value.choices == sorted(ENGINES)
    assert set(METHOD_NAMES) <= set(no_method.value.choices)


async def test_what_cannot_run_here_is_named_with_its_reason(turns_folder: Write, opened: Open) -> None:
    settings = Settings.model_validate({"rerank": {"model": "no-such/cross-encoder"}})
    async with opened(turns_folder(), settings=settings) as app:
        engines, no_engines = await engines_for(app.services, [])
        methods, no_methods = methods_for(app.services, MATRIX)
        named, nothing = await engines_for(app.services, ["condense_context"])
    assert engines[0] == "simple"
    assert set(engines) | {each.name for each in no_engines} == set(ENGINES)
    assert "only proves the wiring" in {each.name: each.reason for each in no_engines}["condense_context"]
    assert methods == ["semantic", "bm25", "hybrid"]
    reasons = {each.name: each.reason for each in no_methods}
    assert set(reasons) == set(MATRIX) - set(methods)
    assert "no-such/cross-encoder" in reasons["reranked/hybrid"]
    assert "capable model" in reasons["hyde/semantic"]
    assert (named, nothing) == (["simple", "condense_context"], [])


class Shouting:
    """An engine that nobody told the harness about."""

    async def prepare(self, message: str, history: object) -> PreparedQuery:
        return PreparedQuery(f"{message.upper()} brass", message, FallbackReason.BLANK)


async def test_a_new_engine_is_measured_without_touching_the_harness(
    turns_folder: Write, monkeypatch: pytest.MonkeyPatch, opened: Open
) -> None:
    monkeypatch.setitem(ENGINES, "shouting", lambda *parts: Shouting())
    folder = turns_folder()
    async with opened(folder) as app:
        engines, _ = await engines_for(app.services, [])
        assert "shouting" in engines
        _, shouted = await measured(app, folder, ["simple", "shouting"])
    assert shouted.rows[0].question == "WHAT IS IT MADE OF? brass"
    assert shouted.fallbacks == {"blank": 2}
    assert shouted.unchanged == 0


async def test_the_search_is_that_of_a_turn(turns_folder: Write, opened: Open) -> None:
    folder = turns_folder()
    case = read_folder(folder).cases[0]
    async with opened(folder) as app:
        found = await search(SearchAgent(app.services), case, "expand_context", "bm25")
        finished = cast(TurnFinished, await app.agent.run(start_event=_start(case)))
    assert found.question is not None
    assert found.question.question == finished.turn.question
    assert [record.stage for record in found.stages][-1] == "judge_context"


def _start(case: Case) -> AgentCall:
    key = TurnKey(turn_id="1", conversation_id="1")
    options = TurnOptions(engine="expand_context", method="bm25")
    return AgentCall(key=key, message=case.message, history=case.history, options=options)


async def test_a_turn_that_fails_counts_as_not_found(
    turns_folder: Write, monkeypatch: pytest.MonkeyPatch, opened: Open
) -> None:
    folder = turns_folder()
    async with opened(folder) as app:
        monkeypatch.setattr(type(app.services), "retriever", _broken)
        (raw,) = await measured(app, folder, ["simple"])
    assert [row.ranks for row in raw.rows] == [(None,), (None,)]
    assert raw.fallbacks == {"failed": 2}


def _broken(services: object, name: str) -> None:
    raise RuntimeError("out of order")


async def test_results_say_what_they_were_made_with_and_no_secret(turns_folder: Write, opened: Open) -> None:
    settings = Settings.model_validate({"llm": {"api_key": "sk-very-secret"}})
    async with opened(turns_folder(), settings=settings) as app:
        told = about(app.services)
    assert told["settings"]["llm.api_key"] == "**********"
    assert "very-secret" not in str(told)
    assert told["models"]["embeddings"] == app.services.embedder.name
    assert {"condensery", "llama-index-core", "sentence-transformers"} <= set(told["packages"])


async def test_what_was_measured_until_an_interruption_is_kept(turns_folder: Write, opened: Open) -> None:
    folder = turns_folder()
    data = read_folder(folder)

    def interrupt(name: str) -> None:
        if name == "expand_context · hybrid":
            running.cancel()

    async with opened(folder) as app:
        evaluation = Evaluation(app, data, await judge_for(data, app), interrupt)
        running = asyncio.create_task(evaluation.run(["simple", "expand_context"], ["hybrid"]))
        with pytest.raises(asyncio.CancelledError):
            await running
        raw, expanded = evaluation.configurations()
    assert (raw.complete, len(raw.rows)) == (True, 2)
    assert expanded.rows
    assert all(row.change for row in expanded.rows)
