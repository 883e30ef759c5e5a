"""Cross-encoders, by a tiny one that is made on the spot: its judgement means nothing, the wiring around it does."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from condensery.errors import ConfigError, ProviderError
from condensery.models import cross_encoder
from condensery.models.cross_encoder import CrossEncoderModel, CrossEncoderPool
from condensery.tests.cross_encoders import save_tiny_cross_encoder

Pair = tuple[str, str]
Judge = Callable[[Sequence[Pair]], list[float]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny cross-encoder that reads 48 tokens."""
    return save_tiny_cross_encoder(tmp_path_factory.mktemp("cross-encoder"))


class Judged:
    """Stands for the model's own judgement: what it was asked, in which batches and threads."""

    def __init__(self) -> None:
        self.batches: list[list[Pair]] = []
        self.threads: set[str] = set()
        self.judge: Judge = lambda pairs: [0.0] * len(pairs)

    def predict(self, pairs: Sequence[Pair], **options: Any) -> list[float]:
        self.batches.append(list(pairs))
        self.threads.add(threading.current_thread().name)
        return self.judge(pairs)


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> Judged:
    """Real tokenizer and real windows, with a judgement that a test decides."""
    double, load = Judged(), cross_encoder.load

    def loaded(folder: Path) -> Any:
        model = load(folder)
        model.predict = double.predict  # type: ignore[assignment]
        return model

    monkeypatch.setattr(cross_encoder, "load", loaded)
    return double


async def test_a_cross_encoder_gives_one_number_per_passage(folder: Path) -> None:
    model = CrossEncoderModel(folder, batch_size=2)
    passages = ["a dog ticket costs euros", "", "snow " * 500, "lantern", "🐕 ß 請求書"]
    scores = await model.scores("what costs a dog ticket?", passages)
    again = await model.scores("what costs a dog ticket?", list(reversed(passages)))
    await model.close()
    assert len(scores) == 5
    assert len({round(score, 7) for score in scores}) > 1
    assert scores == pytest.approx(list(reversed(again)), abs=1e-5)


async def test_nothing_is_loaded_before_the_first_passage_is_judged(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cross_encoder, "load", lambda folder: pytest.fail("loaded"))
    assert await CrossEncoderModel(folder).scores("Why?", []) == []


async def test_an_answer_at_the_end_of_a_long_passage_counts(folder: Path, judged: Judged) -> None:
    judged.judge = lambda pairs: [float("answer" in text) for _, text in pairs]
    model = CrossEncoderModel(folder)
    long = "filler " * 300
    scores = await model.scores("the annual pass?", [f"{long}answer", long, f"answer {long}", "answer"])
    assert scores == [1.0, 0.0, 1.0, 1.0]


async def test_windows_fit_the_model_and_leave_no_word_out(folder: Path, judged: Judged) -> None:
    model, words = CrossEncoderModel(folder), [f"w{number}" for number in range(200)]
    await model.scores("a dog?", [" ".join(words)])
    tokenizer = model._model._model().tokenizer
    pairs = [pair for batch in judged.batches for pair in batch]
    assert max(len(tokenizer(*pair)["input_ids"]) for pair in pairs) <= 48
    assert {word for _, text in pairs for word in text.split()} >= set(words)


async def test_a_long_question_leaves_room_for_the_passage(folder: Path, judged: Judged) -> None:
    judged.judge = lambda pairs: [float("answer" in text) for _, text in pairs]
    assert await CrossEncoderModel(folder).scores("dog " * 500, ["answer", "filler " * 90 + "answer"]) == [1.0, 1.0]
    assert all(0 < question.count("dog") <= 24 for batch in judged.batches for question, _ in batch)


async def test_passages_are_judged_in_batches_off_the_event_loop(folder: Path, judged: Judged) -> None:
    model = CrossEncoderModel(folder, batch_size=4)
    judged.judge = lambda pairs: [float(len(text)) for _, text in pairs]
    passages = ["dog" + "x" * (number % 5) for number in range(10)]
    assert await model.scores("a dog?", passages) == [float(len(text)) for text in passages]
    assert [len(batch) for batch in judged.batches] == [4, 4, 2]
    assert judged.threads == {"cross-encoder"}
    await model.close()


async def test_the_loop_runs_while_passages_are_judged_and_who_stops_waiting_stops_the_rest(
    folder: Path, judged: Judged
) -> None:
    loop, judging, go_on = asyncio.get_running_loop(), asyncio.Event(), threading.Event()

    def slow(pairs: Sequence[Pair]) -> list[float]:
        loop.call_soon_threadsafe(judging.set)
        go_on.wait(60)
        return [0.0] * len(pairs)

    judged.judge = slow
    model = CrossEncoderModel(folder, batch_size=1)
    work = asyncio.create_task(model.scores("a dog?", ["one", "two", "three"]))
    await judging.wait()  # the loop is free, or this would not go on
    work.cancel()
    await asyncio.gather(work, return_exceptions=True)
    go_on.set()
    await model.close()
    assert len(judged.batches) == 1


async def test_a_failing_model_is_an_error_in_our_words(folder: Path, judged: Judged) -> None:
    def broken(pairs: Sequence[Pair]) -> list[float]:
        raise ValueError("a secret question")

    judged.judge = broken
    with pytest.raises(ProviderError, match=r"the cross-encoder in .* failed \(ValueError\)$"):
        await CrossEncoderModel(folder).scores("Why?", ["one"])


@pytest.mark.parametrize("name", ["cross-encoder/no-such-model", "/no/such/folder", "~/no-such-folder"])
def test_a_model_that_is_not_there_is_named_with_the_way_out(name: str) -> None:
    with pytest.raises(ConfigError, match="hf download") as caught:
        CrossEncoderPool().get(name, 16)
    assert name in str(caught.value)
    assert "rerank.model" in str(caught.value)


def test_a_folder_that_holds_no_cross_encoder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no cross-encoder"):
        CrossEncoderPool().get(str(tmp_path), 16)
    classifier = save_tiny_cross_encoder(tmp_path / "classes", labels=3)
    with pytest.raises(ConfigError, match="sorts pairs into 3 classes"):
        CrossEncoderPool().get(str(classifier), 16)


def test_equal_names_share_one_model(folder: Path) -> None:
    pool = CrossEncoderPool()
    assert pool.get(str(folder), 16) is pool.get(f"{folder}/", 16)


def test_another_batch_size_is_no_second_copy_of_the_model(folder: Path) -> None:
    pool = CrossEncoderPool()
    model = pool.get(str(folder), 16)
    assert pool.get(str(folder), 4) is model
    assert model.batch_size == 4
