"""Starts the chat app: one process, one open `App`, one event loop."""

import asyncio
import logging
import os
import socket
import sys
import webbrowser
from contextlib import suppress

from condensery.app import App, open_app
from condensery.errors import CondenseryError, ConfigError
from condensery.settings import App as Address
from condensery.settings import Settings
from condensery.ui.folder import prepare


def run(settings: Settings, *, open_browser: bool = True) -> None:
    """Serve the chat app until Ctrl-C or SIGTERM, then close everything.

    Raises ConfigError when the address is taken or Chainlit is missing, and what `open_app` raises.
    """
    with listen(settings.app) as listener:
        prepare(settings)
        logging.getLogger("chainlit").setLevel(logging.WARNING)
        asyncio.run(_serve(settings, listener, open_browser))


def listen(address: Address) -> socket.socket:
    """A socket bound to the app's address: taken before anything else is opened, so that a taken port costs nothing."""
    listener = socket.socket(socket.AF_INET6 if ":" in address.host else socket.AF_INET)
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address.host, address.port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise ConfigError(
            f"cannot listen on {address.host}, port {address.port}: {error.strerror}; "
            "stop what uses it, or set app.port (CONDENSERY_APP__PORT) or app.host (CONDENSERY_APP__HOST) to another"
        ) from error
    return listener


def url_of(address: Address) -> str:
    """Where a browser on this machine finds the app."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(address.host, address.host)  # noqa: S104  # compared, not bound
    return f"http://[{host}]:{address.port}" if ":" in host else f"http://{host}:{address.port}"


async def _serve(settings: Settings, listener: socket.socket, open_browser: bool) -> None:
    from condensery.ui.chat import Chat
    from condensery.ui.server import Server, guarded_app, is_loopback

    url = url_of(settings.app)

    def announce() -> None:
        print(f"Condensery is at {url} – Ctrl-C stops it", flush=True)
        if not is_loopback(settings.app.host):
            print("There is no password: whoever can reach this address can read the documents and chats.", flush=True)
        if open_browser and _has_display():
            tasks.append(asyncio.create_task(asyncio.to_thread(webbrowser.open, url)))

    async with open_app(settings) as app:
        chat = Chat(app)
        chat.register()
        tasks: list[asyncio.Task[object]] = [asyncio.create_task(_warm_up(app))]
        try:
            await Server(guarded_app(settings.app), announce).serve(sockets=[listener])
        finally:
            for task in tasks:
                task.cancel()
            await chat.close()


async def _warm_up(app: App) -> None:
    """Load what searching needs while the person is still reading; the first question tells what is wrong with it."""
    with suppress(CondenseryError):
        await app.warm()


def _has_display() -> bool:
    """Whether a browser would open in a window; on a bare terminal `webbrowser` would start one in the terminal."""
    return not sys.platform.startswith("linux") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))
