"""The chat app in a process of its own, and a real browser for it."""

import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from condensery.settings import Settings

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

os.environ["CHAINLIT_APP_ROOT"] = tempfile.mkdtemp(prefix="cnd-ui-")  # Chainlit takes a folder when it is imported

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
HOW = "install chromium (Debian: apt install chromium) and pip install playwright"
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking"]
WAIT_MS = 60_000

StartApp = Callable[..., AbstractContextManager[str]]
OpenPage = Callable[[str], Awaitable["Page"]]


@pytest.fixture(scope="session", autouse=True)
def chainlit_folder() -> Iterator[None]:
    yield
    shutil.rmtree(os.environ["CHAINLIT_APP_ROOT"], ignore_errors=True)


@pytest.fixture
async def browser() -> AsyncIterator["Browser"]:
    """Chromium, driven by Playwright; without it the test is skipped, or fails when a browser is required."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None or importlib.util.find_spec("playwright") is None:
        required = os.environ.get("CONDENSERY_REQUIRE_BROWSER") == "1"
        (pytest.fail if required else pytest.skip)(f"no browser: {HOW}")
    from playwright.async_api import async_playwright

    async with async_playwright() as started:
        chromium = await started.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield chromium
        await chromium.close()


@pytest.fixture
async def open_page(browser: "Browser") -> AsyncIterator[OpenPage]:
    """Opens the app at a URL in a fresh profile; whatever the page loads must come from there, without an error."""
    strange: list[str] = []

    async def opened(url: str) -> "Page":
        context = await browser.new_context(viewport={"width": 1280, "height": 800})
        context.set_default_timeout(WAIT_MS)
        page = await context.new_page()
        page.on("request", lambda request: strange.append(request.url) if _is_strange(request.url, url) else None)
        page.on("pageerror", lambda error: strange.append(str(error)))
        await page.goto(url)
        await page.wait_for_selector("#chat-input")
        return page

    yield opened
    assert strange == []


@pytest.fixture
def start_app(tmp_path: Path) -> StartApp:
    """Runs a command that serves the chat app with `settings`; gives its URL, then sends Ctrl-C.

    It must leave nothing in the folder it was started in, and no traceback, unless faults are called for.
    """

    @contextmanager
    def started(settings: Settings, *command: str, faults: bool = False, **environment: str) -> Iterator[str]:
        port, working = _free_port(), tmp_path / "elsewhere"
        working.mkdir(exist_ok=True)
        assert settings.database_url
        environment |= {
            "CONDENSERY_DATA_DIR": str(settings.data_dir),
            "CONDENSERY_DATABASE_URL": settings.database_url.get_secret_value(),
            "CONDENSERY_APP__PORT": str(port),
        }
        process = subprocess.Popen(
            [sys.executable, *command],
            cwd=working,
            env=os.environ | environment,
            stdout=subprocess.PIPE,
            stderr=(tmp_path / "errors").open("w"),
            text=True,
        )
        assert process.stdout
        try:
            said = process.stdout.readline()
            assert said == f"Condensery is at http://127.0.0.1:{port} – Ctrl-C stops it\n", _errors(tmp_path)
            yield f"http://127.0.0.1:{port}"
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 0, _errors(tmp_path)
            assert faults == ("Traceback" in _errors(tmp_path)), _errors(tmp_path)
            assert list(working.iterdir()) == []
        finally:
            process.kill()
            process.wait()

    return started


def _is_strange(requested: str, url: str) -> bool:
    return not requested.startswith((f"{url}/", "data:"))


def _errors(folder: Path) -> str:
    return (folder / "errors").read_text()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
