"""mem0 keeps to itself: no connection, nothing in the home directory, no words in a log, nothing forgotten."""

import asyncio
import logging
import os
import subprocess
import sys
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from condensery.errors import ProviderError
from condensery.memory.days import today
from condensery.memory.mem0_home import history_path
from condensery.memory.mem0_store import Mem0Memory, open_memory
from condensery.memory.types import NewFact, organization_scope, user_scope
from condensery.storage.database import Database
from condensery.testing import RecordingEmbedder

ANN = user_scope("ann")
MARK = "zanzibarine"

SCRIPT = """
import asyncio, socket, sys, types
from pathlib import Path

LOCAL = {"127.0.0.1", "::1", "localhost"}

def audit(event, args):
    if event in ("socket.connect", "socket.sendto") and args[0].family != socket.AF_UNIX and args[1][0] not in LOCAL:
        print("CONNECTED", args[1], flush=True)
        raise PermissionError(f"connection to {args[1]}")
    if event == "socket.getaddrinfo" and args[0] not in LOCAL | {None, ""}:
        print("LOOKED UP", args[0], flush=True)
        raise PermissionError(f"look-up of {args[0]}")

sys.addaudithook(audit)

class Spacy(types.ModuleType):
    def __getattr__(self, name):
        print("SPACY", name, flush=True)
        raise AttributeError(name)

sys.modules["spacy"] = Spacy("spacy")

from condensery.memory.mem0_store import open_memory
from condensery.memory.types import NewFact, user_scope
from condensery.settings import Settings
from condensery.storage.database import open_database
from condensery.testing import RecordingEmbedder

async def main():
    folder, ann = Path(sys.argv[1]), user_scope("ann")
    async with open_database(Settings(data_dir=folder)) as db:
        async with open_memory(db, RecordingEmbedder(), folder) as memory:
            await memory.recall("tea", scope=ann, limit=5, threshold=0)
            await memory.forget(scope=ann)
            print("mem0" in sys.modules)
            await memory.remember([NewFact(text="I live in Oslo.", slot="home", turn_id="1")], scope=ann)
            await memory.remember([NewFact(text="I live in Bergen.", slot="home", turn_id="2")], scope=ann)
            mem0 = await memory._opened()
            await mem0.search("When did Ann Smith like Oslo?", filters={"user_id": "ann"}, top_k=1000)
            print(len(await memory.recall("I live in Bergen.", scope=ann, limit=5, threshold=0)))
            print(await memory.forget(scope=ann))
    from mem0.memory import main, telemetry
    print(telemetry.client_telemetry.posthog, telemetry._oss_telemetry_instance)

asyncio.run(main())
"""


def test_nothing_leaves_the_process_or_lands_in_the_home_directory(short_dir: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    told = {"HOME": str(home), "MEM0_TELEMETRY": "True", "MEM0_DIR": str(home / "mem0")}
    command = [sys.executable, "-c", SCRIPT, str(short_dir)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=300, cwd=tmp_path, env={**os.environ, **told}
    )
    assert done.stdout.split("\n") == ["False", "1", "2", "None None", ""], done.stderr[-2000:]
    assert list(home.iterdir()) == []
    assert sorted(each.name for each in tmp_path.iterdir()) == ["home"]


async def test_what_is_forgotten_is_left_in_no_table_and_no_file(
    database: Database, mem0_memory: Mem0Memory, tmp_path: Path
) -> None:
    new = [
        NewFact(text=f"I live in the {MARK} quarter.", slot="home", turn_id="t1", conversation_id="c1"),
        NewFact(text=f"I live in the old {MARK} lane.", slot="home", turn_id="t2", conversation_id="c2"),
        NewFact(text=f"I like {MARK} tea.", turn_id="t3", conversation_id="c3"),
    ]
    for fact in new:
        await mem0_memory.remember([fact], scope=ANN)
    assert await places(database, tmp_path) == {"memories", str(history_path(tmp_path))}
    assert await mem0_memory.forget(scope=ANN, conversation_id="c3") == 1
    assert await mem0_memory.forget(scope=ANN) == 2
    assert await places(database, tmp_path) == set()
    assert await mem0_memory.recall(MARK, scope=ANN, limit=50, threshold=0) == []


async def places(database: Database, folder: Path) -> set[str]:
    """Every table and file that holds the mark."""
    found = await asyncio.to_thread(_files, folder)
    async with database.transaction() as connection:
        query = "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()"
        for table in (await connection.execute(text(query))).scalars().all():
            held = f'SELECT count(*) FROM "{table}" t WHERE t::text LIKE :mark'  # noqa: S608
            if (await connection.execute(text(held), {"mark": f"%{MARK}%"})).scalar_one():
                found.add(table)
    return found


def _files(folder: Path) -> set[str]:
    return {str(path) for path in folder.rglob("*") if path.is_file() and MARK.encode() in path.read_bytes()}


async def test_what_another_machine_forgot_goes_from_the_notes_of_this_one(database: Database, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    async with open_memory(database, RecordingEmbedder(), here) as memory:
        await memory.remember([NewFact(text=f"I like {MARK} tea."), NewFact(text="I visited Bern.")], scope=ANN)
    async with open_memory(database, RecordingEmbedder(), there) as memory:
        [gone] = [fact.id for fact in await memory.list(scope=ANN) if MARK in fact.text]
        assert await memory.forget(scope=ANN, fact_id=gone) == 1
    assert MARK.encode() in history_path(here).read_bytes()
    async with open_memory(database, RecordingEmbedder(), here):
        assert MARK.encode() not in history_path(here).read_bytes()
        assert b"I visited Bern." in history_path(here).read_bytes()


@pytest.mark.parametrize("opened", [True, False], ids=["at opening", "when the day ends"])
async def test_what_has_expired_is_left_in_no_table_and_no_file(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: bool
) -> None:
    tomorrow = today() + timedelta(days=1)
    async with AsyncExitStack() as stack:
        memory = await stack.enter_async_context(open_memory(database, RecordingEmbedder(), tmp_path))
        mine = [
            NewFact(text=f"I have {MARK} tea.", expires_on=today()),
            NewFact(text="I am tall.", expires_on=tomorrow),
        ]
        await memory.remember(mine, scope=ANN)
        await memory.erase_expired()
        assert len(await memory.list(scope=ANN)) == 2
        monkeypatch.setattr("condensery.memory.stored.today", lambda: tomorrow)
        if opened:
            await stack.enter_async_context(open_memory(database, RecordingEmbedder(), tmp_path))
        else:
            await memory.erase_expired()
        assert await places(database, tmp_path) == set()
        assert [fact.text for fact in await memory.list(scope=ANN, history=True)] == ["I am tall."]


async def test_only_the_owner_may_look_into_the_folder(mem0_memory: Mem0Memory, tmp_path: Path) -> None:
    await mem0_memory.remember([NewFact(text="I like tea.")], scope=ANN)
    assert history_path(tmp_path).parent.stat().st_mode & 0o077 == 0


async def test_no_id_of_a_person_is_in_the_table(database: Database, mem0_memory: Mem0Memory, tmp_path: Path) -> None:
    await mem0_memory.remember([NewFact(text="I like tea.")], scope=user_scope(f"{MARK}@example.org"))
    await mem0_memory.remember([NewFact(text="We like tea.")], scope=organization_scope(MARK))
    assert await places(database, tmp_path) == set()


async def test_the_log_holds_nothing_that_was_said(
    mem0_memory: Mem0Memory, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG)
    new = NewFact(text=f"I live in {MARK}.", slot="home", turn_id="t1")
    await mem0_memory.remember([new], scope=ANN)
    await mem0_memory.remember([NewFact(text=f"I live in old {MARK} lane.", slot="home", turn_id="t2")], scope=ANN)
    await mem0_memory.recall(MARK, scope=ANN, limit=5, threshold=0)
    store = (await mem0_memory._opened()).vector_store
    monkeypatch.setattr(store, "collection_name", "missing")
    with pytest.raises(ProviderError) as caught:
        await mem0_memory.recall(MARK, scope=ANN, limit=5, threshold=0)
    assert MARK not in str(caught.value)
    await mem0_memory.forget(scope=ANN)
    assert [record.getMessage() for record in caplog.records if MARK in record.getMessage()] == []
    assert [record.name for record in caplog.records if record.name.startswith("mem0")] == []


async def test_opening_mem0_does_not_hold_up_the_event_loop(mem0_memory: Mem0Memory) -> None:
    turns = 0

    async def tick() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    ticking = asyncio.create_task(tick())
    await mem0_memory._opened()
    ticking.cancel()
    assert turns > 10
