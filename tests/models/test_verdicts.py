"""Yes or no, from a local model's first token, from what an endpoint reports, and from words."""

import math
from pathlib import Path

import numpy as np
import pytest
from llama_index.core.llms import ChatMessage

from condensery.errors import ProviderError
from condensery.models.chat import ChatModel, InputTooLarge
from condensery.models.llama import LlamaLLM
from condensery.models.local import LocalAdapter
from condensery.models.verdicts import masses, said, share, spellings
from condensery.prompts.loader import prompts_for
from condensery.prompts.locales import LOCALES
from condensery.settings import Llm
from condensery.testing import ScriptedLLM

ASKED = [ChatMessage(role="user", content="Is snow white? Answer yes or no.")]


def words_of(locale: str) -> tuple[str, str]:
    prompts = prompts_for(locale)
    return prompts.text("judge.yes"), prompts.text("judge.no")


@pytest.mark.parametrize("locale", LOCALES)
def test_a_verdict_is_read_off_words_in_every_language(locale: str) -> None:
    yes, no = words_of(locale)
    for text in (yes, f"{yes.upper()}.", f"**{yes.capitalize()}**, 42", f"– {yes}!", f"{yes}, {no}"):
        assert said(text, yes, no) == 1.0
    for text in (no, f"{no.capitalize()}.", f"“{no}”", f"{no}. {yes}"):
        assert said(text, yes, no) == 0.0
    for text in ("", "…", "42", f"x {yes} x {no}", f"x{yes}x"):
        assert said(text, yes, no) is None


def test_a_missing_accent_is_no_other_word() -> None:
    assert said("Si.", "sì", "no") == 1.0
    assert {"sì", "si", " Si", "SÌ"} <= set(spellings("sì"))


def test_the_share_of_yes_counts_only_tokens_that_say_yes_or_no() -> None:
    tokens = [(" Yes", math.log(0.3)), ("yes", math.log(0.3)), ("No", math.log(0.2)), ("Maybe", math.log(0.2))]
    assert share(tokens, "yes", "no") == pytest.approx(0.75)
    assert share([("Maybe", -0.1)], "yes", "no") is None
    assert share([], "yes", "no") is None


def test_a_token_of_both_words_decides_nothing() -> None:
    logits = np.log(np.array([0.5, 0.3, 0.2], dtype=np.float32))
    assert masses(logits, [{0, 1}, {1, 2}]) == pytest.approx([0.5, 0.2], abs=1e-6)


async def test_a_model_without_probabilities_answers_in_words() -> None:
    llm = ScriptedLLM("<think>Snow is white.</think> Yes.", "No, it is not.", "Perhaps.", "<think>hmm")
    model = ChatModel(llm, name="scripted")
    assert await model.yes_probability(ASKED) == 1.0
    assert await model.yes_probability(ASKED) == 0.0
    for _ in range(2):
        with pytest.raises(ProviderError, match="asked for yes or no and replied something else"):
            await model.yes_probability(ASKED)


def local(gguf: Path, **options: int) -> tuple[ChatModel, LlamaLLM]:
    adapter = LocalAdapter(gguf, Llm(**{"context_window": 1024, "max_output_tokens": 64, **options}))
    return ChatModel(adapter.llm, name="small", adapter=adapter), adapter.llm


async def test_a_local_model_gives_a_probability_and_writes_nothing(
    gguf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, llm = local(gguf)
    monkeypatch.setattr(LlamaLLM, "achat", lambda *_: pytest.fail("wrote"))
    found = await model.yes_probability(ASKED)
    swapped = await model.yes_probability(ASKED, yes="no", no="yes")
    weights = await llm.aweigh(ASKED, [spellings("yes"), spellings("no")])
    await model.close()
    assert 0 < found < 1
    assert found + swapped == pytest.approx(1, abs=0.02)
    assert weights is not None
    assert 0 < sum(weights) <= 1.000001


async def test_judging_does_not_change_what_the_model_writes_next(gguf: Path) -> None:
    model, _ = local(gguf)
    talk = [ChatMessage(role="user", content="Name three colours of the rainbow, and say where each is seen. " * 4)]
    before = await model.complete(talk, max_tokens=12)
    first = [await model.yes_probability([ChatMessage(role="user", content=f"{n}? yes/no")]) for n in ("1", "2", "1")]
    after = await model.complete(talk, max_tokens=12)
    await model.close()
    assert after == before
    assert first[0] == pytest.approx(first[2], abs=0.01)


async def test_a_prompt_too_long_to_judge_is_refused(gguf: Path) -> None:
    model, _ = local(gguf, context_window=128)
    with pytest.raises(InputTooLarge):
        await model.yes_probability([ChatMessage(role="user", content="word " * 200)])
    await model.close()


@pytest.mark.parametrize("locale", LOCALES)
def test_yes_and_no_begin_with_tokens_of_their_own_in_every_language(gguf: Path, locale: str) -> None:
    _, llm = local(gguf)
    yes, no = ({llm._vocabulary.first_token(text) for text in spellings(word)} for word in words_of(locale))
    assert len(yes - no) >= 2
    assert len(no - yes) >= 2
