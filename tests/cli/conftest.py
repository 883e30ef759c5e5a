"""Ways to run the command line: in this process, as a program, and as a program in a terminal."""

import asyncio
import json
import logging
import os
import pty
import re
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import asyncpg  # type: ignore[import-untyped]
import pytest

from condensery.cli import main
from condensery.models.embedding import HuggingFaceEmbedder
from condensery.settings import Settings
from condensery.tests.cli.remembered import Keep, keeping

PROGRAM = [sys.executable, "-c", "from condensery.cli import main; main()"]
PATIENCE = 120
"""Seconds until a program that says nothing is taken for stuck."""


@pytest.fixture
def python() -> list[str]:
    """This Python, to be given code."""
    return [sys.executable, "-c"]


class Result(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Iterator[Callable[..., Result]]:
    """Runs a command in this process."""

    def run(*arguments: object, stdin: str = "") -> Result:
        monkeypatch.setattr(sys, "argv", ["condensery", *map(str, arguments)])
        reading, writing = os.pipe()
        with os.fdopen(writing, "w") as pipe:
            pipe.write(stdin)
        with os.fdopen(reading) as source, monkeypatch.context() as patch:
            patch.setattr(sys, "stdin", source)
            capfd.readouterr()
            with pytest.raises(SystemExit) as leaving:
                main()
        return Result(int(leaving.value.code or 0), *capfd.readouterr())

    root, ours = logging.getLogger(), logging.getLogger("condensery")
    before = root.handlers[:], root.level, ours.level
    yield run
    root.handlers[:], level, our_level = before
    root.setLevel(level)
    ours.setLevel(our_level)
    logging.captureWarnings(False)


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> Callable[[Settings], None]:
    """Makes commands use the database and the folder of some settings."""

    def use(settings: Settings) -> None:
        assert settings.database_url is not None
        monkeypatch.setenv("CONDENSERY_DATA_DIR", str(settings.data_dir))
        monkeypatch.setenv("CONDENSERY_DATABASE_URL", settings.database_url.get_secret_value())

    return use


@pytest.fixture
def empty_index(settings: Settings, environment: Callable[[Settings], None]) -> None:
    """An index without documents."""
    environment(settings)


@pytest.fixture
def corpus_index(corpus_settings: Settings, environment: Callable[[Settings], None]) -> None:
    """The index of the example documents."""
    environment(corpus_settings)


class InTerminal:
    """A program in a pseudo-terminal: what it shows, and the keys it gets."""

    def __init__(self, *arguments: object) -> None:
        self._screen, inside = pty.openpty()
        self._process = subprocess.Popen(
            [*PROGRAM, *map(str, arguments)],
            stdin=inside,
            stdout=inside,
            stderr=inside,
            start_new_session=True,
            env={**os.environ, "TERM": "xterm", "NO_COLOR": "1", "COLUMNS": "200"},
            preexec_fn=_take_terminal,
        )
        os.close(inside)
        self.shown = ""
        self._read = 0

    def expect(self, text: str) -> str:
        """Wait for `text` after what was expected before; return all that was shown up to its end."""
        deadline = time.monotonic() + PATIENCE
        while (at := self.shown.find(text, self._read)) < 0:
            assert time.monotonic() < deadline, f"waited for {text!r}; shown: {self.shown!r}"
            assert self._more(), f"ended without {text!r}; shown: {self.shown!r}"
        before, self._read = self.shown[self._read : at], at + len(text)
        return before

    def type(self, line: str) -> None:
        """Send a line."""
        os.write(self._screen, f"{line}\r".encode())

    def press(self, key: str) -> None:
        """Send a control key, such as `C` for Ctrl-C, through the terminal."""
        os.write(self._screen, bytes([ord(key) - 64]))

    def interrupt_prompt(self) -> None:
        """Press Ctrl-C at the prompt; readline misses it in the moment between showing the prompt and waiting."""
        for _ in range(3):
            self.press("C")
            if select.select([self._screen], [], [], 20)[0]:
                return

    def leave(self) -> int:
        """Wait for the end and return the exit code."""
        while self._more():
            pass
        return self._process.wait(PATIENCE)

    def close(self) -> None:
        """End the program if it is still there."""
        self._process.kill()
        self._process.wait()
        os.close(self._screen)

    def _more(self) -> bool:
        if not select.select([self._screen], [], [], PATIENCE)[0]:
            return False
        try:
            data = os.read(self._screen, 65536)
        except OSError:  # how Linux says that the program has closed the terminal
            return False
        self.shown += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", data.decode(errors="replace")).replace("\r", "")
        return bool(data)


def _take_terminal() -> None:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture
def in_terminal() -> Iterator[Callable[..., InTerminal]]:
    """Starts the command line in a terminal of its own."""
    with ExitStack() as stack:

        def start(*arguments: object) -> InTerminal:
            terminal = InTerminal(*arguments)
            stack.callback(terminal.close)
            return terminal

        yield start


@pytest.fixture
def program() -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """Runs the command line as a program."""

    def run(*arguments: object, **options: Any) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [*PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE, check=False, **options
        )

    return run


class SlowModel:
    """An OpenAI-compatible endpoint that says `before`, waits for `go_on`, and then says `after`."""

    before = "The trail is "
    after = "6.8 kilometres long [1]."

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.requests: list[dict[str, Any]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def name(self) -> str:
        """What `llm.model` is set to."""
        return f"openai:http://127.0.0.1:{self._server.server_port}/v1#stub"

    def close(self) -> None:
        """Stop listening."""
        self.go_on.set()
        self._server.shutdown()
        self._server.server_close()


def _handler(model: SlowModel) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            model.requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            self._say(model.before)
            model.go_on.wait(PATIENCE)
            with suppress(ConnectionError):  # a person may have stopped the answer
                self._say(model.after, finish="stop")
                self.wfile.write(b"data: [DONE]\n\n")

        def _say(self, text: str, finish: str | None = None) -> None:
            choice = {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": finish}
            chunk = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "stub", "choices": [choice]}
            self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
            self.wfile.flush()

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    return Handler


@pytest.fixture
def slow_model(monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowModel]:
    """A model that answers when the test says so; commands of the test use it."""
    model = SlowModel()
    monkeypatch.setenv("CONDENSERY_LLM__MODEL", model.name)
    yield model
    model.close()


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder with two small documents."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "lamps.md").write_text("# Lamps\n\nThe green lamp costs 40 francs. It is made of brass.\n")
    (folder / "boats.md").write_text("# Boats\n\nThe rowing boat seats four people.\n")
    return folder


@pytest.fixture
def locked(settings: Settings) -> Callable[[], AbstractContextManager[None]]:
    """Holds up whoever writes documents of the test's database for the length of a `with`; readers go on."""

    @contextmanager
    def lock() -> Iterator[None]:
        assert settings.database_url is not None
        url = settings.database_url.get_secret_value().replace("+asyncpg", "")
        with asyncio.Runner() as runner:
            connection = runner.run(asyncpg.connect(url))
            runner.run(connection.execute("BEGIN; LOCK TABLE documents IN SHARE MODE"))
            yield
            runner.run(connection.close())

    return lock


@pytest.fixture
def one_embedder(monkeypatch: pytest.MonkeyPatch, shared_embedder: HuggingFaceEmbedder) -> None:
    monkeypatch.setattr("condensery.terminal.lazy_memory.open_embedder", lambda settings: shared_embedder)


@pytest.fixture
def keep(settings: Settings, shared_embedder: HuggingFaceEmbedder) -> Keep:
    """Stores facts of a user, each as if it had been said a day after the one before."""
    return keeping(settings, shared_embedder)
