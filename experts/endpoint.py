"""Where replies to the webhook come in: an ASGI application to be mounted anywhere, or served by `condensery experts`.

    POST /reply   {"kind": "reply", "id": …, "reply": …, "expert": …}, or {"kind": "decline", "id": …, "reason": …}

Signed as questions are (`signing.py`). A question takes one reply, so a request that is sent again is refused.
"""

import json
import time
from collections.abc import Callable
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from condensery.errors import CondenseryError, ConfigError
from condensery.experts.control import ExpertControl
from condensery.experts.signing import SIGNATURE_HEADER, TIMESTAMP_HEADER, BadSignature, verify
from condensery.experts.types import ExpertRequest, NotOpen, UnknownRequest
from condensery.settings import Experts

ENVELOPE_BYTES = 4096
BYTES_PER_CHARACTER = 6
"""A character is at most this long in JSON (`\\uXXXX`); beyond the basic plane it is two of them."""


class Incoming(BaseModel):
    """What may come in. Unknown fields are refused: what was signed is what counts."""

    model_config = ConfigDict(extra="forbid", strict=True)

    kind: Literal["reply", "decline"]
    id: str
    reply: str = ""
    reason: str = ""
    expert: str | None = None


class TooLarge(CondenseryError):
    """More bytes than any reply has."""


class BadBody(CondenseryError):
    """What came in is not a reply; the message names the fault."""


STATUS: tuple[tuple[type[CondenseryError], int], ...] = (
    (BadSignature, 401),
    (TooLarge, 413),
    (BadBody, 400),
    (UnknownRequest, 404),
    (NotOpen, 409),
    (ConfigError, 422),
)
"""What each fault is in HTTP, the special before the general; anything else is 503: try again."""


def reply_app(
    control: ExpertControl, settings: Callable[[], Experts], *, clock: Callable[[], float] = time.time
) -> Starlette:
    """The application; raises `ConfigError` without `experts.secret`, since nothing could be trusted."""
    if settings().secret is None:
        raise ConfigError("replies must be signed; set experts.secret")

    async def reply(request: Request) -> JSONResponse:
        try:
            done = await _take(await _verified(request, settings(), clock), control)
        except CondenseryError as error:
            status = next((status for kind, status in STATUS if isinstance(error, kind)), 503)
            return JSONResponse({"error": str(error)}, status)
        return JSONResponse({"id": done.id, "state": done.state})

    return Starlette(routes=[Route("/reply", reply, methods=["POST"])])


async def _verified(request: Request, settings: Experts, clock: Callable[[], float]) -> Incoming:
    """What the request says, once it is known to be from who holds the secret, and new."""
    body = await _body(request, most=ENVELOPE_BYTES + 2 * BYTES_PER_CHARACTER * settings.reply_chars)
    secret = settings.secret.get_secret_value() if settings.secret else ""
    timestamp, given = (request.headers.get(name, "") for name in (TIMESTAMP_HEADER, SIGNATURE_HEADER))
    verify(secret, timestamp, given, body, now=clock(), fresh_seconds=settings.fresh_seconds)
    try:
        return Incoming.model_validate(json.loads(body))
    except ValidationError as error:
        raise BadBody("; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())) from error
    except (ValueError, RecursionError) as error:
        raise BadBody("the body is not JSON") from error


async def _body(request: Request, *, most: int) -> bytes:
    body = bytearray()
    try:
        async for piece in request.stream():
            body += piece
            if len(body) > most:
                raise TooLarge(f"the body has more than {most} bytes")
    except ClientDisconnect as error:
        raise BadBody("the body broke off") from error
    return bytes(body)


async def _take(incoming: Incoming, control: ExpertControl) -> ExpertRequest:
    if incoming.kind == "decline":
        return await control.decline(incoming.id, reason=incoming.reason, expert=incoming.expert)
    return await control.answer(incoming.id, incoming.reply, expert=incoming.expert)
