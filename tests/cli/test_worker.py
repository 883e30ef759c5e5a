import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from condensery.settings import Settings
from condensery.storage.database import open_database
from condensery.storage.outbox import OutboxRepository, OutboxRow
from condensery.storage.turns import TurnRepository
from condensery.workflows.turn import OutboxEntry, Outcome, Turn, TurnKey

Command = Callable[..., Any]
Say = Callable[[str, str], None]
Rows = Callable[[], list[OutboxRow]]

pytestmark = pytest.mark.usefixtures("empty_index")


@pytest.fixture
def say(settings: Settings) -> Say:
    """Saves a turn whose facts are still to be found."""

    async def store(turn_id: str, question: str) -> None:
        key = TurnKey(turn_id=turn_id, conversation_id="c", user_id="local")
        turn = Turn(key=key, message="raw", answer="", outcome=Outcome.ANSWERED)
        entry = OutboxEntry(turn_id=turn_id, kind="memory", payload={"question": question, "answer": ""})
        async with open_database(settings) as database:
            await TurnRepository(database).save(turn, entry)

    return lambda turn_id, question: asyncio.run(store(turn_id, question))


@pytest.fixture
def rows(settings: Settings) -> Rows:
    """Reads what waits of this machine's user."""

    async def read() -> list[OutboxRow]:
        async with open_database(settings) as database:
            return await OutboxRepository(database).of_user("local")

    return lambda: asyncio.run(read())


def remembered(command: Command) -> list[str]:
    return sorted(fact["text"] for fact in json.loads(command("memory", "list", "--json").out))


def test_what_is_due_is_stored_and_the_worker_ends(command: Command, say: Say, rows: Rows) -> None:
    say("t1", "I live in Oslo. When is the museum open?")
    say("t2", "When is the museum open?")
    done = command("worker", "--once")
    assert (done.code, done.err) == (0, "")
    assert done.out == "caught up: 0 turns waiting for another try, 0 parked\n"
    assert remembered(command) == ["I live in Oslo."]
    assert rows() == []
    again = command("worker", "--once")
    assert (again.code, again.out) == (0, "")


def test_draining_waits_for_what_is_to_be_tried_again(
    command: Command, say: Say, rows: Rows, settings: Settings
) -> None:
    async def fail_once() -> None:
        async with open_database(settings) as database, OutboxRepository(database).take() as taken:
            assert taken
            await taken.failed("the model is out of reach", attempts=5, wait_seconds=0.5)

    say("t1", "I live in Oslo. When is the museum open?")
    asyncio.run(fail_once())
    assert command("worker", "--drain").code == 0
    assert rows() == []
    assert remembered(command) == ["I live in Oslo."]


def test_ctrl_c_ends_the_worker_cleanly(in_terminal: Callable[..., Any], say: Say, rows: Rows) -> None:
    say("t1", "I live in Oslo. When is the museum open?")
    terminal = in_terminal("worker")
    terminal.expect("1 turn to look at; Ctrl-C ends")
    terminal.expect("caught up: 0 turns waiting")
    terminal.press("C")
    terminal.expect("ending after the turn at work")
    assert terminal.leave() == 0
    assert rows() == []


def test_a_supervisor_ends_the_worker_cleanly() -> None:
    program = [sys.executable, "-c", "from condensery.cli import main; main()", "worker"]
    with subprocess.Popen(program, stderr=subprocess.PIPE, text=True) as worker:
        assert worker.stderr is not None
        assert worker.stderr.readline() == "0 turns to look at; Ctrl-C ends\n"
        worker.send_signal(signal.SIGTERM)
        assert worker.stderr.readline().startswith("ending after the turn at work")
        assert worker.wait(120) == 0


def test_what_memory_has_no_database_for_is_an_error(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONDENSERY_DATABASE_URL", "postgresql://u:very-secret@127.0.0.1:1/none")
    done = command("worker", "--once")
    assert (done.code, done.out) == (1, "")
    assert "cannot reach the database" in done.err
    assert "very-secret" not in done.err
