"""An OpenAI-compatible endpoint, played by a small HTTP server on the loopback interface."""

import json
import logging
import math
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from llama_index.core.llms import ChatMessage
from pydantic import SecretStr

from condensery.errors import Busy, ProviderError
from condensery.models.chat import ChatModel, InputTooLarge, Reply, open_chat_model
from condensery.settings import Llm

ASKED = [ChatMessage(role="user", content="What is the capital of Norway?")]
KEY = "sk-very-secret"
Answer = Callable[[BaseHTTPRequestHandler], None]


class Stub:
    """Gives the answers in order, then the last one again; keeps every request's body, path and key."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.bodies: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.keys: list[str | None] = []
        self.released = threading.Event()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.server.server_port}"

    def _handler(stub) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                stub.paths.append(self.path)
                stub.keys.append(self.headers["Authorization"])
                stub.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                stub.answers[min(len(stub.bodies), len(stub.answers)) - 1](self)

            def log_message(self, *_: object) -> None:
                pass

        return Handler


@pytest.fixture
def stub() -> Iterator[Stub]:
    stub = Stub()
    yield stub
    stub.released.set()
    stub.server.shutdown()
    stub.server.server_close()


@pytest.fixture
def opened(stub: Stub) -> Callable[..., ChatModel]:
    def open_(*answers: Answer, **settings: Any) -> ChatModel:
        stub.answers = list(answers)
        spec = f"openai:http://{stub.host}/v1#tiny-model"
        model = open_chat_model(Llm.model_validate({"model": spec, "api_key": SecretStr(KEY), **settings}))
        assert model is not None
        return model

    return open_


def send(handler: BaseHTTPRequestHandler, status: int, body: bytes, kind: str = "application/json") -> None:
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def says(content: str | None, reason: str = "stop", **fields: str) -> Answer:
    message = {"role": "assistant", "content": content, **fields}
    choice = {"index": 0, "message": message, "finish_reason": reason}
    whole = {"id": "1", "object": "chat.completion", "created": 1, "model": "tiny-model", "choices": [choice]}
    return lambda handler: send(handler, 200, json.dumps(whole).encode())


def streams(*deltas: dict[str, str], reason: str = "stop") -> Answer:
    choices: list[dict[str, Any]]
    choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in ({"role": "assistant"}, *deltas)]
    choices.append({"index": 0, "delta": {}, "finish_reason": reason})
    head = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "tiny-model"}
    events = [f"data: {json.dumps({**head, 'choices': [choice]})}\n\n" for choice in choices]
    body = "".join([*events, "data: [DONE]\n\n"]).encode()
    return lambda handler: send(handler, 200, body, "text/event-stream")


def fails(status: int, message: str = "no") -> Answer:
    body = json.dumps({"error": {"message": f"{message} {KEY}", "type": "x", "code": None}}).encode()
    return lambda handler: send(handler, status, body)


Open = Callable[..., ChatModel]


async def streamed(model: ChatModel, finished: list[Reply] | None = None) -> list[str]:
    keep = finished if finished is not None else []
    return [piece async for piece in model.stream(ASKED, max_tokens=50, on_finish=keep.append)]


async def test_a_reply_comes_cleaned_and_the_request_carries_our_options_only(opened: Open, stub: Stub) -> None:
    model = opened(says("<think>x</think>Answer: Oslo"), temperature=0.5)
    reply = await model.complete(ASKED, max_tokens=7, stop=("\n",), json_schema=None, background=True)
    assert reply == Reply(text="Oslo")
    assert stub.paths == ["/v1/chat/completions"]
    assert stub.keys == [f"Bearer {KEY}"]
    assert stub.bodies == [
        {
            "model": "tiny-model",
            "messages": [{"role": "user", "content": "What is the capital of Norway?"}],
            "max_tokens": 7,
            "stop": ["\n"],
            "temperature": 0.5,
            "stream": False,
        }
    ]
    assert (model.name, model.context_window, model.capable) == ("tiny-model", 4096, True)


async def test_a_schema_is_asked_for_in_the_request(opened: Open, stub: Stub) -> None:
    model = opened(says('{"city": "Oslo"}', "length"))
    reply = await model.complete(ASKED, max_tokens=7, json_schema={"type": "object"})
    assert reply == Reply(text='{"city": "Oslo"}', finish_reason="length")
    assert stub.bodies[0]["response_format"]["json_schema"]["schema"] == {"type": "object"}


async def test_a_stream_comes_in_pieces_cleaned(opened: Open) -> None:
    finished: list[Reply] = []
    deltas = [{"content": text} for text in ("<thi", "nk>x</think>", "It is ", "Os", "lo.", "\nUser: next")]
    assert await streamed(opened(streams(*deltas)), finished) == ["It is", " Os", "lo."]
    assert finished == [Reply(text="It is Oslo.")]


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
async def test_reasoning_in_a_field_of_its_own_with_empty_content_is_unfinished_thinking(
    opened: Open, field: str
) -> None:
    expected = Reply(text="", finish_reason="length", unfinished_thinking=True)
    assert await opened(says("", "length", **{field: "The user"})).complete(ASKED, max_tokens=9) == expected
    assert await opened(says(None, "length", **{field: "The user"})).complete(ASKED, max_tokens=9) == expected
    finished: list[Reply] = []
    stream = streams({field: "The "}, {field: "user"}, reason="length")
    assert await streamed(opened(stream), finished) == []
    assert finished == [expected]


async def test_reasoning_in_a_field_of_its_own_beside_content_is_dropped(opened: Open) -> None:
    assert await opened(says("Oslo", reasoning_content="hm")).complete(ASKED, max_tokens=9) == Reply(text="Oslo")
    assert await streamed(opened(streams({"reasoning_content": "hm"}, {"content": "Oslo"}))) == ["Oslo"]


async def test_a_passing_failure_is_tried_again(opened: Open, stub: Stub) -> None:
    assert (await opened(fails(503), says("Oslo")).complete(ASKED, max_tokens=9)).text == "Oslo"
    assert len(stub.bodies) == 2


async def test_a_passing_failure_before_a_stream_is_tried_again(opened: Open, stub: Stub) -> None:
    assert await streamed(opened(fails(500), streams({"content": "Oslo"}))) == ["Oslo"]
    assert len(stub.bodies) == 2


@pytest.mark.parametrize(
    ("status", "message", "error", "tries"),
    [
        (401, r"refused the key; check llm.api_key", ProviderError, 1),
        (404, r"does not know this path or model; check llm.model", ProviderError, 1),
        (422, r"failed with HTTP 422", ProviderError, 1),
        (503, r"failed with HTTP 503: try again", ProviderError, 3),
        (429, r"too many requests \(HTTP 429\)", Busy, 3),
    ],
)
async def test_a_lasting_failure_says_who_can_help_and_nothing_secret(
    opened: Open, stub: Stub, caplog: pytest.LogCaptureFixture, status: int, message: str, error: type, tries: int
) -> None:
    model = opened(fails(status))
    with caplog.at_level(logging.INFO), pytest.raises(error, match=rf"^{stub.host}.* ?{message}") as raised:
        await model.complete(ASKED, max_tokens=9)
    assert len(stub.bodies) == tries
    assert KEY not in f"{raised.value}{caplog.text}{model!r}{model._adapter.llm!r}{model._adapter.llm.to_payload()}"


async def test_a_prompt_that_the_endpoint_finds_too_long_is_input_too_large(opened: Open) -> None:
    model = opened(fails(400, "This model's maximum context length is 2048 tokens"))
    with pytest.raises(InputTooLarge, match=r"refused the prompt as too long; lower llm.context_window"):
        await model.complete(ASKED, max_tokens=9)


async def test_a_prompt_larger_than_the_set_window_is_not_sent(opened: Open, stub: Stub) -> None:
    with pytest.raises(InputTooLarge):
        await opened(says("x")).complete([ChatMessage(role="user", content="word " * 5000)], max_tokens=9)
    assert stub.bodies == []


async def test_an_endpoint_that_does_not_reply_in_time_is_a_provider_error(opened: Open, stub: Stub) -> None:
    model = opened(lambda _: stub.released.wait(60) and None, request_seconds=0.2)
    with pytest.raises(ProviderError, match=r"did not reply within 0.2 s; see llm.request_seconds"):
        await model.complete(ASKED, max_tokens=9)
    with pytest.raises(ProviderError, match=r"did not reply within 0.2 s"):
        await streamed(model)


async def test_an_endpoint_that_is_not_there_is_a_provider_error(opened: Open, stub: Stub) -> None:
    model = opened(says("x"))
    stub.server.shutdown()
    stub.server.server_close()
    with pytest.raises(ProviderError, match=r"cannot be reached; is it running, and is llm.model right\?"):
        await model.complete(ASKED, max_tokens=9)
    await model.close()


async def test_a_reply_that_is_no_json_is_a_provider_error(opened: Open) -> None:
    with pytest.raises(ProviderError):
        await opened(lambda h: send(h, 200, b"<html>hello</html>", "text/html")).complete(ASKED, max_tokens=9)


def weighs(content: str, **logprobs: float) -> Answer:
    """A reply that reports the likeliest first tokens with their log probabilities."""
    tokens = [{"token": token, "logprob": logprob, "bytes": None} for token, logprob in logprobs.items()]
    first = {"token": content, "logprob": 0.0, "bytes": None, "top_logprobs": tokens}
    choice: dict[str, Any] = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
    choice["logprobs"] = {"content": [first], "refusal": None}
    whole = {"id": "1", "object": "chat.completion", "created": 1, "model": "tiny-model", "choices": [choice]}
    return lambda handler: send(handler, 200, json.dumps(whole).encode())


async def test_a_verdict_is_the_share_of_yes_in_what_the_endpoint_reports(opened: Open, stub: Stub) -> None:
    model = opened(weighs("No", No=math.log(0.6), Yes=math.log(0.2), Maybe=math.log(0.2)))
    assert await model.yes_probability(ASKED) == pytest.approx(0.25)
    assert (stub.bodies[0]["logprobs"], stub.bodies[0]["top_logprobs"]) == (True, 20)
    assert model.parallel > 1


@pytest.mark.parametrize("status", [400, 422])
async def test_an_endpoint_that_reports_no_probabilities_is_taken_at_its_word(
    opened: Open, stub: Stub, status: int
) -> None:
    model = opened(fails(status, "logprobs are not supported"), says("<think>hm</think>Yes."), says("no"))
    assert [await model.yes_probability(ASKED) for _ in range(2)] == [1.0, 0.0]
    assert ["logprobs" in body for body in stub.bodies] == [True, False, False]


async def test_a_prompt_too_long_for_the_endpoint_is_not_asked_again(opened: Open, stub: Stub) -> None:
    model = opened(fails(400, "maximum context length is 10 tokens"), says("yes"))
    with pytest.raises(InputTooLarge):
        await model.yes_probability(ASKED)
    assert len(stub.bodies) == 1
