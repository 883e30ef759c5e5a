"""The webhook, both ways: signed questions out, and only what is signed, fresh and new comes in."""

import json
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette

from condensery.app import App
from condensery.errors import ConfigError, ProviderError
from condensery.experts.channels import open_channel
from condensery.experts.endpoint import reply_app
from condensery.experts.signing import SIGNATURE_HEADER, TIMESTAMP_HEADER, BadSignature, signed, verify
from condensery.experts.types import ExpertRequest, RequestState
from condensery.experts.webhook import NotTaken, Webhook
from condensery.settings import Experts, Settings
from condensery.tests.experts.asking import QUESTION, SECRET, asked, closed, last, until
from condensery.tests.experts.conftest import OpenExperts
from condensery.workflows.events import CondensedQuestion
from condensery.workflows.turn import TurnKey

URL = "https://experts.example/questions"
NOW = 1_800_000_000.0
UNTIL = datetime(2026, 5, 1, tzinfo=UTC)
WEBHOOK = {"channel": "webhook", "webhook_url": URL, "secret": SECRET, "retry_seconds": 0.001, "attempts": 3}
KEY = TurnKey(turn_id="t", conversation_id="secret conversation", user_id="ada", organization_id="acme")
ASKED = CondensedQuestion(key=KEY, question="Was kostet der Bus?", max_chars=512, engine="simple", condensed=True)

Answer = int | Exception


class Receiver:
    """The other side: answers as scripted, then 200, and keeps what it got."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.got: list[httpx.Request] = []

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        self.got.append(request)
        answer = self.answers.pop(0) if self.answers else 200
        if isinstance(answer, Exception):
            raise answer
        return httpx.Response(answer, headers={"Location": "https://elsewhere.example"})


def webhook(receiver: Receiver, **changes: Any) -> Webhook:
    settings = Experts.model_validate(WEBHOOK | changes)
    return Webhook(settings, transport=httpx.MockTransport(receiver), clock=lambda: NOW)


async def send(channel: Webhook) -> None:
    await channel.send(ASKED, request_id="5f0c", expires_at=UNTIL)


async def test_what_goes_out_is_the_question_its_id_and_its_time_signed() -> None:
    receiver = Receiver()
    await send(webhook(receiver))
    (request,) = receiver.got
    body = json.loads(request.content)
    assert body == {
        "kind": "question",
        "id": "5f0c",
        "question": "Was kostet der Bus?",
        "expires_at": UNTIL.isoformat(),
    }
    timestamp, signature = request.headers[TIMESTAMP_HEADER], request.headers[SIGNATURE_HEADER]
    verify(SECRET, timestamp, signature, request.content, now=NOW, fresh_seconds=1)
    assert SECRET not in str(request.headers) + request.content.decode()


@pytest.mark.parametrize("passing", [500, 503, 429, 408, httpx.ConnectError("refused"), httpx.ReadTimeout("slow")])
async def test_what_may_pass_is_tried_again(passing: Answer) -> None:
    receiver = Receiver(passing, passing)
    await send(webhook(receiver))
    assert len(receiver.got) == 3
    assert len({request.content for request in receiver.got}) == 1


async def test_after_the_last_try_it_fails_without_the_address_or_the_secret() -> None:
    receiver = Receiver(*[503] * 9)
    with pytest.raises(ProviderError, match=r"the webhook at experts\.example answered 503") as failure:
        await send(webhook(receiver, webhook_url=f"{URL}?token=hidden"))
    assert len(receiver.got) == 3
    assert "hidden" not in str(failure.value)


@pytest.mark.parametrize("status", [400, 401, 404, 410, 302])
async def test_what_will_not_pass_is_not_tried_again_and_no_redirect_is_followed(status: int) -> None:
    receiver = Receiver(status)
    with pytest.raises(NotTaken, match=str(status)):
        await send(webhook(receiver))
    assert len(receiver.got) == 1


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"webhook_url": ""}, "needs experts.webhook_url"),
        ({"webhook_url": "http://experts.example"}, "https"),
        ({"webhook_url": "ftp://127.0.0.1"}, "https"),
        ({"secret": None}, "needs experts.secret"),
        ({"secret": "short"}, "at least 16"),
    ],
)
def test_settings_that_would_send_unsafely_are_refused(change: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        Settings.model_validate({"experts": WEBHOOK | change})
    Settings.model_validate({"experts": WEBHOOK | {"webhook_url": "http://127.0.0.1:9000/questions"}})


def test_an_unknown_channel_lists_the_choices() -> None:
    with pytest.raises(ConfigError, match="choose one of desk, webhook"):
        open_channel("pigeon", Experts())


@pytest.mark.parametrize(
    ("timestamp", "body", "secret", "now", "complaint"),
    [
        (None, b"other", SECRET, NOW, "not that of this body"),
        (None, b"body", "another secret", NOW, "not that of this body"),
        (str(int(NOW) + 1), b"body", SECRET, NOW, "not that of this body"),
        ("", b"body", SECRET, NOW, "whole seconds"),
        ("١٢٣", b"body", SECRET, NOW, "whole seconds"),
        ("9" * 400, b"body", SECRET, NOW, "whole seconds"),
        (None, b"body", SECRET, NOW + 301, "older than 300 seconds"),
        (None, b"body", SECRET, NOW - 301, "from the future"),
    ],
)
def test_what_is_not_signed_now_by_who_holds_the_secret_is_refused(
    timestamp: str | None, body: bytes, secret: str, now: float, complaint: str
) -> None:
    headers = signed(secret, b"body", now=NOW)
    given = headers[TIMESTAMP_HEADER] if timestamp is None else timestamp
    with pytest.raises(BadSignature, match=complaint):
        verify(SECRET, given, headers[SIGNATURE_HEADER], body, now=now, fresh_seconds=300)


def test_a_signature_that_is_no_ascii_is_refused_and_not_an_error() -> None:
    with pytest.raises(BadSignature):
        verify(SECRET, str(int(NOW)), "v1=é", b"body", now=NOW, fresh_seconds=300)


# --- replies come in ---


def client_of(app: App) -> httpx.AsyncClient:
    served: Starlette = reply_app(app.experts, lambda: app.settings.experts)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=served), base_url="http://ours")


def signed_request(body: object, *, at: float | None = None, secret: str = SECRET) -> dict[str, Any]:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return {"content": content, "headers": signed(secret, content, now=time.time() if at is None else at)}


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Receiver:
    """Takes what the channel sends."""
    receiver = Receiver()
    made = Webhook.__init__

    def init(self: Webhook, settings: Experts, **parts: Any) -> None:
        made(self, settings, transport=httpx.MockTransport(receiver))

    monkeypatch.setattr(Webhook, "__init__", init)
    return receiver


async def test_a_question_goes_out_and_the_signed_reply_becomes_the_answer_once(
    expert_app: OpenExperts, receiver: Receiver
) -> None:
    async with expert_app(experts=WEBHOOK) as app, client_of(app) as client:
        request = await asked(app, conversation_id="c")
        sent = json.loads(receiver.got[0].content)
        assert (sent["id"], sent["question"]) == (request.id, QUESTION)
        reply = signed_request({"kind": "reply", "id": sent["id"], "reply": "12 <b>francs</b>.", "expert": "Weber"})
        taken = await client.post("/reply", **reply)
        assert (taken.status_code, taken.json()) == (200, {"id": request.id, "state": "answered"})
        assert "“12 francs.” [1]" in (await last(app, "c")).answer
        replayed = await client.post("/reply", **reply)
        assert replayed.status_code == 409
        assert "Weber has answered it already" in replayed.json()["error"]
        assert len(await app.history("c")) == 3


async def test_a_decline_comes_in_the_same_way(expert_app: OpenExperts, receiver: Receiver) -> None:
    async with expert_app(experts=WEBHOOK) as app, client_of(app) as client:
        request = await asked(app, conversation_id="c")
        body = {"kind": "decline", "id": request.id, "reason": "Not my field.", "expert": "Weber"}
        assert (await client.post("/reply", **signed_request(body))).status_code == 200
        assert (await last(app, "c")).reason == "expert_declined"


Make = Callable[[ExpertRequest, Receiver], dict[str, Any]]


def _reply(request: ExpertRequest) -> dict[str, Any]:
    return {"kind": "reply", "id": request.id, "reply": "Twelve."}


def _reflected(request: ExpertRequest, receiver: Receiver) -> dict[str, Any]:
    """Our own question, sent back to us with our own signature."""
    ours = receiver.got[0]
    return {"content": ours.content, "headers": {n: ours.headers[n] for n in (TIMESTAMP_HEADER, SIGNATURE_HEADER)}}


REFUSED: Sequence[tuple[str, Make, int]] = (
    ("another secret", lambda r, _: signed_request(_reply(r), secret="another secret of theirs"), 401),  # noqa: S106
    ("no signature", lambda r, _: {"content": json.dumps(_reply(r)).encode()}, 401),
    ("stale", lambda r, _: signed_request(_reply(r), at=time.time() - 301), 401),
    ("from the future", lambda r, _: signed_request(_reply(r), at=time.time() + 301), 401),
    ("changed", lambda r, _: signed_request(_reply(r)) | {"content": json.dumps(_reply(r) | {"reply": "13"})}, 401),
    ("our own question", _reflected, 400),
    ("no JSON", lambda r, _: signed_request(b"{"), 400),
    ("not Unicode", lambda r, _: signed_request(b'{"kind": "\xff"}'), 400),
    ("nested", lambda r, _: signed_request(b"[" * 60_000), 400),
    ("a list", lambda r, _: signed_request([]), 400),
    ("unknown field", lambda r, _: signed_request(_reply(r) | {"role": "system"}), 400),
    ("a number for a text", lambda r, _: signed_request(_reply(r) | {"reply": 12}), 400),
    ("unknown question", lambda r, _: signed_request(_reply(r) | {"id": "nothing"}), 404),
    ("no text", lambda r, _: signed_request(_reply(r) | {"reply": "<br>"}), 422),
    ("50 kB", lambda r, _: signed_request(_reply(r) | {"reply": "x" * 51_200}), 422),
    ("5 MB", lambda r, _: signed_request(_reply(r) | {"reply": "x" * 5_000_000}), 413),
    ("a long name", lambda r, _: signed_request(_reply(r) | {"expert": "x" * 500}), 422),
)


async def test_whatever_else_comes_in_is_refused_and_the_question_stays_open(
    expert_app: OpenExperts, receiver: Receiver
) -> None:
    async with expert_app(experts=WEBHOOK) as app, client_of(app) as client:
        request = await asked(app, conversation_id="c")
        statuses = {}
        for name, make, _ in REFUSED:
            response = await client.post("/reply", **make(request, receiver))
            statuses[name] = response.status_code
            assert response.json()["error"]
        assert statuses == {name: status for name, _, status in REFUSED}
        assert [each.id for each in await app.experts.list()] == [request.id]
        assert len(await app.history("c")) == 2


async def test_a_webhook_that_is_down_is_told_in_the_conversation(expert_app: OpenExperts, receiver: Receiver) -> None:
    receiver.answers = [httpx.ConnectError("refused")] * 9
    async with expert_app(experts=WEBHOOK) as app, client_of(app) as client:
        await app.ask(QUESTION, conversation_id="c")
        offer = await app.experts.offered("c")
        assert offer is not None
        await app.ask("yes", conversation_id="c")
        await closed(app, offer.id)
        assert len(receiver.got) == 3
        assert (await last(app, "c")).reason == "expert_unreachable"
        late = await client.post("/reply", **signed_request({"kind": "reply", "id": offer.id, "reply": "Twelve."}))
        assert (late.status_code, "could not be sent" in late.json()["error"]) == (409, True)
        await until(app, offer.id, RequestState.FAILED)


async def test_without_a_secret_nothing_is_served(expert_app: OpenExperts) -> None:
    async with expert_app() as app:
        with pytest.raises(ConfigError, match=r"set experts\.secret"):
            reply_app(app.experts, lambda: app.settings.experts)
