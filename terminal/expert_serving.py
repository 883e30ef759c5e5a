"""`condensery experts serve`: takes replies to the webhook until a signal, and looks after what is overdue."""

import asyncio
import socket
from contextlib import AbstractContextManager, nullcontext

import uvicorn
from starlette.types import ASGIApp

from condensery.errors import ConfigError
from condensery.experts.endpoint import reply_app
from condensery.settings import Settings
from condensery.terminal.opening import opened
from condensery.terminal.output import err
from condensery.terminal.running import Code
from condensery.terminal.working import stopping

GRACE_SECONDS = 5


class Server(uvicorn.Server):
    """Uvicorn that leaves signals to us."""

    def __init__(self, app: ASGIApp, host: str, port: int) -> None:
        quiet = {"lifespan": "off", "log_level": "warning", "access_log": False, "server_header": False}
        super().__init__(uvicorn.Config(app, host, port, timeout_graceful_shutdown=GRACE_SECONDS, **quiet))  # type: ignore[arg-type]

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and say where."""
        await super().startup(sockets)
        err.say(f"Taking replies at http://{self.config.host}:{self.config.port}/reply; Ctrl-C ends")

    def capture_signals(self) -> AbstractContextManager[None]:  # type: ignore[override]
        """None of them."""
        return nullcontext()


async def serve(settings: Settings) -> Code:
    """Listen until the first Ctrl-C or SIGTERM; raises `ConfigError` without a secret, or for an address in use."""
    stop = asyncio.Event()
    host, port = settings.experts.host, settings.experts.port
    async with opened(settings) as app:
        server = Server(reply_app(app.experts, lambda: app.settings.experts), host, port)
        app.experts.wake()
        with stopping(stop, "ending"):
            serving = asyncio.create_task(_listening(server))
            waiting = asyncio.create_task(stop.wait())
            await asyncio.wait([serving, waiting], return_when=asyncio.FIRST_COMPLETED)
            server.should_exit = True
            waiting.cancel()
            await serving
    return Code.OK


async def _listening(server: Server) -> None:
    try:
        await server.serve()
    except SystemExit as error:  # what uvicorn makes of an address in use
        raise ConfigError(
            "cannot listen there: the address is in use, or not ours; choose another with --port or --host"
        ) from error
