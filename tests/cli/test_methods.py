"""Composed methods and their stages on the command line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from condensery.models.chat import ChatModel
from condensery.prompts.locales import LOCALES
from condensery.retrieval.plans import RULES
from condensery.settings import BUNDLED_EMBEDDINGS
from condensery.testing import ScriptedLLM
from condensery.tests.cross_encoders import save_tiny_cross_encoder

Command = Callable[..., Any]
QUESTION = "How much is a ticket for a dog?"
PASSAGE = "A dog travels for 9 Quuxford francs."


@pytest.fixture
def stages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A model that writes passages, and a tiny cross-encoder."""
    model = ChatModel(ScriptedLLM(PASSAGE), name="scripted", capable=False)
    monkeypatch.setattr("condensery.services.open_chat_model", lambda settings: model)
    monkeypatch.setenv("CONDENSERY_RERANK__MODEL", str(save_tiny_cross_encoder(tmp_path / "tiny")))


@pytest.mark.usefixtures("corpus_index", "stages")
def test_an_explained_answer_shows_every_rank_the_stages_and_the_passage(command: Command) -> None:
    done = command("ask", QUESTION, "--explain", "--method", "reranked/hyde")
    assert done.code == 0
    assert "method reranked/hyde/hybrid" in done.out
    assert PASSAGE in done.out
    before, _, results = done.out.partition("Results")
    assert "hypothetical passage" in before
    results, _, stages = results.partition("Stages")
    header = next(line for line in results.splitlines() if "final" in line)
    order = [header.index(name) for name in ("final", "semantic", "bm25", "fused", "reranked", "source")]
    assert order == sorted(order)
    assert "1 · 0." in results
    assert all(name in stages for name in ("hypothesize", "retrieve", "rerank", "ms", "note"))


@pytest.mark.usefixtures("corpus_index", "stages")
def test_json_is_the_turn_and_holds_no_passage(command: Command) -> None:
    done = command("ask", QUESTION, "--json", "--explain", "--method", "reranked/hyde/semantic")
    turn = json.loads(done.out)
    assert turn["method"] == "reranked/hyde/semantic"
    assert "Quuxford" not in done.out
    traces = sorted((found["trace"] for found in turn["evidence"]), key=lambda trace: trace["final"]["rank"])
    assert [trace["reranked"]["rank"] for trace in traces] == list(range(1, len(traces) + 1))
    assert all("semantic" in trace["arms"] for trace in traces)


@pytest.mark.usefixtures("corpus_index")
def test_a_stage_that_fell_back_says_why(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONDENSERY_LLM__MODEL", "none")
    done = command("ask", QUESTION, "--explain", "--method", "hyde")
    assert done.code == 0
    assert "hyde: no_model; searched with the question itself" in done.out
    assert "warning: degraded: hyde: no_model" in done.err
    assert "hypothetical passage" not in done.out


@pytest.mark.usefixtures("empty_index")
@pytest.mark.parametrize("asking", [["ask", "Why?"], ["chat"]], ids=["ask", "chat"])
def test_a_method_whose_parts_do_not_go_together_is_refused_with_the_rule(command: Command, asking: list[str]) -> None:
    done = command(*asking, "--method", "hyde/bm25")
    assert (done.code, done.out) == (2, "")
    assert RULES["hyde"] in done.err


@pytest.mark.usefixtures("empty_index")
def test_a_reranker_that_is_not_here_is_refused_with_the_way_out(command: Command) -> None:
    done = command("ask", "Why?", "--method", "reranked")
    assert (done.code, done.out) == (2, "")
    assert "hf download cross-encoder/ms-marco-MiniLM-L6-v2" in done.err


@pytest.mark.usefixtures("empty_index")
@pytest.mark.parametrize("locale", [locale for locale in LOCALES if locale != "en"])
def test_a_model_that_knows_english_only_is_named_to_people_of_another_language(
    command: Command, monkeypatch: pytest.MonkeyPatch, notes: Path, locale: str
) -> None:
    monkeypatch.setenv("CONDENSERY_LOCALE", locale)
    for arguments in (["settings", "--json"], ["ingest", notes, "--json"], ["ask", "Où ?", "--json"]):
        done = command(*arguments)
        assert BUNDLED_EMBEDDINGS in done.err, arguments
        assert json.loads(done.out)


@pytest.mark.usefixtures("empty_index")
def test_nobody_who_reads_english_is_told(command: Command) -> None:
    assert BUNDLED_EMBEDDINGS not in command("ask", "Why?", "--json").err
    assert BUNDLED_EMBEDDINGS not in command("settings").err
