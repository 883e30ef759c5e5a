"""Makes docs/images/chat.png: the chat app over the example documents, as it is. Needs chromium and playwright."""

import io
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parents[1]
CONDENSERY = [sys.executable, "-c", "from condensery.cli import main; main()"]
CONVERSATION = ["When is the sauna open?", "Can children use it?"]


@contextmanager
def example_app() -> Iterator[str]:
    """The URL of the chat app over a fresh data directory with the example documents."""
    with tempfile.TemporaryDirectory(prefix="cnd-") as folder, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        environment = os.environ | {"CONDENSERY_DATA_DIR": folder, "CONDENSERY_APP__PORT": str(port)}
        subprocess.run([*CONDENSERY, "ingest", ROOT / "examples" / "docs"], env=environment, check=True)  # noqa: S603
        app = subprocess.Popen([*CONDENSERY, "app", "--no-open"], env=environment, stdout=subprocess.PIPE)  # noqa: S603
        try:
            if not app.stdout or not app.stdout.readline():  # it says so when it listens
                raise SystemExit("the app did not start")
            yield f"http://127.0.0.1:{port}"
        finally:
            app.send_signal(signal.SIGINT)
            app.wait()


def converse(page: Page) -> None:
    """Ask, follow up, and open what the last answer quotes."""
    page.wait_for_selector("#chat-input")
    for number, message in enumerate(CONVERSATION):
        page.fill("#chat-input", message)
        page.click("#chat-submit:not([disabled])")
        page.locator("[data-step-type=assistant_message]").nth(number).get_by_text("Sources:").wait_for()
        page.wait_for_selector("#chat-submit")
    page.reload()  # without the notice of a first chat
    page.locator("a.element-link").last.wait_for()
    page.wait_for_timeout(1000)
    page.locator("a.element-link").last.click()
    page.locator("#side-view-content").get_by_role("article").first.wait_for()
    page.mouse.move(560, 400)
    page.mouse.wheel(0, -1000)
    page.wait_for_timeout(1000)


def save(picture: bytes, path: Path) -> None:
    """As PNG with a palette: a third of the size, and no difference to see."""
    Image.open(io.BytesIO(picture)).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size // 1000} kB")


def main() -> None:
    """Make every picture."""
    with example_app() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(url)
        converse(page)
        save(page.screenshot(), ROOT / "docs" / "images" / "chat.png")
        browser.close()


if __name__ == "__main__":
    main()
