"""Rerankers: the table, the order they make, and the one that asks a chat model."""

import math
import re
from pathlib import Path
from typing import get_args

import pytest
from llama_index.core.llms import ChatMessage

from condensery.errors import ConfigError, ProviderError, UnknownName
from condensery.models.chat import ChatModel
from condensery.models.cross_encoder import CrossEncoderPool
from condensery.prompts.loader import prompts_for
from condensery.prompts.locales import LOCALES
from condensery.retrieval.rerankers import (
    RERANKERS,
    LlmReranker,
    NoModel,
    RerankerParts,
    final,
    open_reranker,
    reranked,
)
from condensery.retrieval.types import Chunk, Placement, ScoredChunk, Trace
from condensery.settings import Rerank, RerankerName
from condensery.testing import ScriptedLLM
from condensery.tests.cross_encoders import save_tiny_cross_encoder


def results(*scores: float) -> list[ScoredChunk]:
    """Fused results in this order."""
    return [
        ScoredChunk(
            chunk=Chunk(id=str(rank), text=f"passage {rank}", source="a.md"),
            score=score,
            trace=Trace(arms={"bm25": Placement(rank=rank, score=2.0)}, fused=Placement(rank=rank, score=score)),
        )
        for rank, score in enumerate(scores, 1)
    ]


def parts(llm: ScriptedLLM | None = None, locale: str = "en", **settings: object) -> RerankerParts:
    model = ChatModel(llm, name="scripted") if llm else None
    return RerankerParts(Rerank.model_validate(settings), CrossEncoderPool(), lambda: model, prompts_for(locale))


def test_the_names_that_settings_accept_are_those_of_the_table() -> None:
    assert sorted(get_args(RerankerName)) == sorted(RERANKERS)


def test_an_unknown_reranker_is_refused_with_the_choices() -> None:
    wrong = parts(reranker="none").settings.model_copy(update={"reranker": "cohere"})
    with pytest.raises(UnknownName, match="no reranker 'cohere'; choose one of cross_encoder, llm, none"):
        open_reranker(RerankerParts(wrong, CrossEncoderPool(), lambda: None, prompts_for("en")))


def test_none_judges_nothing() -> None:
    assert open_reranker(parts(reranker="none")) is None


def test_a_cross_encoder_that_is_not_on_this_machine_is_said_with_the_way_out() -> None:
    with pytest.raises(ConfigError, match=r"ms-marco.*rerank\.model to a folder, or rerank\.reranker to llm"):
        open_reranker(parts())


async def test_a_cross_encoder_is_opened_by_the_path_of_its_folder(tmp_path: Path) -> None:
    chosen = parts(model=str(save_tiny_cross_encoder(tmp_path / "tiny")))
    reranker = open_reranker(chosen)
    assert reranker is not None
    assert len(await reranker.scores("a dog ticket?", ["snow", "dog"])) == 2
    await chosen.cross_encoders.close()


def test_the_order_is_that_of_the_scores_and_every_trace_keeps_what_came_before() -> None:
    before = results(0.9, 0.5, 0.1)
    after = final(reranked(before, [0.2, 0.2, 0.7]))
    assert [found.chunk.id for found in after] == ["3", "1", "2"]
    assert [found.score for found in after] == [0.7, 0.2, 0.2]
    assert after[0].trace == Trace(
        arms={"bm25": Placement(rank=3, score=2.0)},
        fused=Placement(rank=3, score=0.1),
        reranked=Placement(rank=1, score=0.7),
        final=Placement(rank=1, score=0.7),
    )
    assert all(found.trace.reranked is None for found in before)


@pytest.mark.parametrize("scores", [[1.0], [1.0, math.nan], [math.inf, 0.0]])
def test_scores_that_mean_nothing_are_an_error(scores: list[float]) -> None:
    with pytest.raises(ProviderError, match="no usable scores"):
        reranked(results(0.9, 0.5), scores)


@pytest.mark.parametrize("locale", LOCALES)
async def test_a_chat_model_judges_each_passage_in_the_language_of_the_texts(locale: str) -> None:
    prompts = prompts_for(locale)

    def judged(messages: object) -> str:
        said = llm.calls[-1].text
        return prompts.text("judge.yes" if "240" in said else "judge.no").capitalize() + "."

    llm = ScriptedLLM(judged)
    reranker = open_reranker(parts(llm, locale, reranker="llm"))
    assert reranker is not None
    assert await reranker.scores("Q?", ["dogs", "a pass: 240", "snow {question}"]) == [0.0, 1.0, 0.0]
    assert all(call.text.index("Q?") < call.text.index(text) for call, text in zip(
        llm.calls, ["dogs", "a pass: 240", "snow {question}"], strict=True))  # fmt: skip


async def test_prompts_of_one_question_are_alike_up_to_the_passage() -> None:
    llm = ScriptedLLM("yes")
    await LlmReranker(ChatModel(llm, name="scripted"), prompts_for("en")).scores("What is it?", ["one", "two"])
    first, second = (call.text for call in llm.calls)
    shared = next(at for at, (a, b) in enumerate(zip(first, second, strict=False)) if a != b)
    assert first[shared:].startswith("one")


async def test_the_better_half_of_a_passage_too_long_for_the_window_counts() -> None:
    llm = ScriptedLLM(lambda messages: "yes" if "240" in (messages[0].content or "") else "no")
    reranker = LlmReranker(ChatModel(llm, name="scripted", context_window=900), prompts_for("en"))
    long = "filler " * 400
    assert await reranker.scores("Why?", [f"{long}240", long, "240"]) == [1.0, 0.0, 1.0]


async def test_without_a_model_or_with_a_failing_one_there_are_no_scores() -> None:
    with pytest.raises(NoModel, match=r"set rerank\.llm or llm\.model"):
        await LlmReranker(None, prompts_for("en")).scores("Why?", ["one"])
    failing = LlmReranker(ChatModel(ScriptedLLM(RuntimeError("secret")), name="scripted"), prompts_for("en"))
    with pytest.raises(ProviderError, match=re.escape("the model failed (RuntimeError)")):
        await failing.scores("Why?", ["one", "two"])


async def test_as_many_passages_are_judged_at_once_as_the_model_takes() -> None:
    llm = ScriptedLLM("yes", delay_seconds=0.01)
    model = ChatModel(llm, name="scripted")
    running = most = 0
    asked = model.yes_probability

    async def counted(messages: list[ChatMessage], **words: str) -> float:
        nonlocal running, most
        running, most = running + 1, max(most, running + 1)
        try:
            return await asked(messages, **words)
        finally:
            running -= 1

    model.yes_probability = counted  # type: ignore[method-assign,assignment]
    await LlmReranker(model, prompts_for("en")).scores("Why?", [str(number) for number in range(20)])
    assert most == model.parallel
