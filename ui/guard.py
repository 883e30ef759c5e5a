"""Who may talk to the app, and what its page may load: only its own pages, only from here."""

from collections.abc import Callable, Iterable
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = ("localhost", "127.0.0.1", "::1")

POLICY = "; ".join(
    [
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self' data:",
        "worker-src 'self' blob:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    ]
)
"""A picture that a document or a model puts into an answer must not make the browser call somebody."""

HEADERS = {
    "content-security-policy": POLICY,
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
}


class Guard:
    """ASGI middleware without configuration files, passwords or state.

    A request must be addressed to one of `names` (None: to any), or a page elsewhere could reach a loopback address by
    a name of its own; and when it comes from a page, from one of ours. `sign_in` gives the cookie, as `name=value`,
    that a browser without one gets with its first page.
    """

    def __init__(self, app: ASGIApp, names: Iterable[str] | None, cookie_name: str, sign_in: Callable[[], str]) -> None:
        self._app = app
        self._names = None if names is None else frozenset(names)
        self._cookie_name = cookie_name
        self._sign_in = sign_in

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what is allowed, with our headers on the answer."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
        elif not self._allowed(Headers(scope=scope)):
            await _refuse(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._app(scope, receive, send)
        else:
            await self._serve(scope, receive, send)

    def _allowed(self, headers: Headers) -> bool:
        host, origin = headers.get("host", ""), headers.get("origin")
        if self._names is not None and _name(f"//{host}") not in self._names:
            return False
        return origin is None or origin.partition("://")[2] == host

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        cookie = self._new_cookie(Headers(scope=scope))

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                if cookie:
                    headers.append("set-cookie", f"{cookie}; HttpOnly; Path=/; SameSite=Lax")
            await send(message)

        await self._app(scope, receive, send_with_headers)

    def _new_cookie(self, headers: Headers) -> str | None:
        asks_for_a_page = "text/html" in headers.get("accept", "")
        return self._sign_in() if asks_for_a_page and not self._signed_in(headers.get("cookie", "")) else None

    def _signed_in(self, cookies: str) -> bool:
        try:
            return self._cookie_name in SimpleCookie(cookies)
        except CookieError:
            return False


def _name(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
    else:
        reply = PlainTextResponse("This app answers only its own pages, under its own address.\n", status_code=403)
        await reply(scope, receive, send)
