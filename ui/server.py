"""The web server around Chainlit. Import it only when `folder.prepare` has run: Chainlit reads its environment then."""

import re
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn
from chainlit import server as chainlit_server
from chainlit.auth import create_jwt
from chainlit.user import User
from starlette.types import ASGIApp

from condensery.settings import App as Address
from condensery.ui.data_layer import LOCAL_USER
from condensery.ui.folder import COOKIE_NAME
from condensery.ui.guard import LOOPBACK, Guard

GRACE_SECONDS = 1
_REMOTE_LINK = re.compile(r"<link\b[^>]*\bhref=\"https?://[^>]*>")


class Server(uvicorn.Server):
    """Uvicorn that says when it listens, and that leaves quietly: a signal is not raised again after it was obeyed."""

    def __init__(self, app: ASGIApp, on_started: Callable[[], None]) -> None:
        # Chainlit's own start-up and shutdown, which ends the process, are the lifespan that is off here.
        config = uvicorn.Config(
            app, lifespan="off", log_level="warning", access_log=False, timeout_graceful_shutdown=GRACE_SECONDS
        )
        super().__init__(config)
        self._on_started = on_started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then call `on_started`."""
        await super().startup(sockets)
        self._on_started()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """SIGINT and SIGTERM end `serve`; the caller then closes what it opened."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def guarded_app(address: Address) -> ASGIApp:
    """Chainlit's app, reachable by its own name only, with a page that loads nothing from elsewhere."""
    original: Callable[[str], str] = chainlit_server.get_html_template

    def get_html_template(root_path: str) -> str:
        return _REMOTE_LINK.sub("", original(root_path))

    chainlit_server.get_html_template = get_html_template
    names = (*LOOPBACK, address.host) if is_loopback(address.host) else None
    return Guard(chainlit_server.app, names, COOKIE_NAME, _cookie)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach `host`."""
    return host in LOOPBACK or host.startswith("127.")


def _cookie() -> str:
    return f"{COOKIE_NAME}={create_jwt(User(identifier=LOCAL_USER))}"
