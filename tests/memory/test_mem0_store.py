"""Memory on mem0: what several writers, processes and failures must not break."""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from condensery.errors import ConfigError, ProviderError
from condensery.memory.mem0_home import history_path
from condensery.memory.mem0_store import Mem0Memory, open_memory
from condensery.memory.reembedding import reembed
from condensery.memory.types import Fact, NewFact, user_scope
from condensery.models.embedding import Embedder
from condensery.settings import Settings
from condensery.storage.database import Database, open_database
from condensery.storage.embedded import start_server
from condensery.testing import RecordingEmbedder

ANN = user_scope("ann")
TEA = NewFact(text="I like tea.", turn_id="t1", conversation_id="c1")
OSLO = NewFact(text="I live in Oslo.", slot="home", turn_id="t1")
BERGEN = NewFact(text="I live in Bergen.", slot="home", turn_id="t2")


async def texts(memory: Mem0Memory, *, history: bool = False) -> list[str]:
    return [fact.text for fact in await memory.list(scope=ANN, history=history)]


async def test_who_has_no_facts_does_not_wait_for_mem0(mem0_memory: Mem0Memory) -> None:
    assert await mem0_memory.recall("tea", scope=ANN, limit=5, threshold=0) == []
    assert await mem0_memory.list(scope=ANN, history=True) == []
    assert await mem0_memory.forget(scope=ANN) == 0
    await mem0_memory.warm()
    assert mem0_memory._mem0 is None


async def test_a_fact_told_by_eight_at_once_is_stored_once(mem0_memory: Mem0Memory) -> None:
    again = [TEA, *(TEA.model_copy(update={"turn_id": f"t{number}"}) for number in range(7))]
    stored = await asyncio.gather(*(mem0_memory.remember([fact], scope=ANN) for fact in again))
    assert sorted(map(len, stored)) == [0] * 7 + [1]
    assert await texts(mem0_memory, history=True) == ["I like tea."]


async def test_a_writer_that_takes_no_turn_stores_nothing_twice(
    mem0_memory: Mem0Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    await mem0_memory.remember([TEA], scope=ANN)

    async def blind(filters: object, limit: int) -> list[Fact]:
        return []

    async def blind_to_all(*_: object) -> list[Fact]:
        return []

    monkeypatch.setattr(mem0_memory, "_rows_with", blind)
    monkeypatch.setattr(mem0_memory, "_nearest", blind_to_all)
    assert await mem0_memory.remember([TEA], scope=ANN) == []
    assert await texts(mem0_memory, history=True) == ["I like tea."]


async def test_who_is_killed_before_superseding_does_it_the_next_time(
    mem0_memory: Mem0Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    await mem0_memory.remember([OSLO], scope=ANN)

    async def die(*_: object) -> Fact:
        raise ProviderError("killed")

    with monkeypatch.context() as patched:
        patched.setattr(mem0_memory, "_supersede", die)
        with pytest.raises(ProviderError, match="killed"):
            await mem0_memory.remember([BERGEN], scope=ANN)
    assert await texts(mem0_memory) == ["I live in Bergen.", "I live in Oslo."]
    assert await mem0_memory.remember([BERGEN], scope=ANN) == []
    assert await texts(mem0_memory) == ["I live in Bergen."]


async def test_slots_and_ids_that_are_commands_of_mem0_are_kept_as_they_are(mem0_memory: Mem0Memory) -> None:
    odd = NewFact(text="I like * and %.", slot="*", turn_id="*", conversation_id="' OR 1=1 --")
    other = NewFact(text="I like tea.", slot="drink", turn_id="t2", conversation_id="c2")
    await mem0_memory.remember([other, odd], scope=ANN)
    assert sorted(await texts(mem0_memory)) == ["I like * and %.", "I like tea."]
    assert await mem0_memory.forget(scope=ANN, conversation_id="' OR 1=1 --") == 1
    assert await texts(mem0_memory) == ["I like tea."]


async def test_what_postgres_does_not_take_is_cleaned(mem0_memory: Mem0Memory) -> None:
    odd = NewFact(text="I like\x00 tea.", slot="x\x00", turn_id="t\x00", conversation_id="c\x00")
    await mem0_memory.remember([odd, NewFact(text="\x00")], scope=ANN)
    assert await texts(mem0_memory) == ["I like tea."]
    assert await mem0_memory.forget(scope=ANN, conversation_id="\ud800") == 0
    assert await mem0_memory.forget(scope=ANN, conversation_id="c\x00") == 1


async def test_a_fact_in_another_language_keeps_its_letters(mem0_memory: Mem0Memory) -> None:
    words = "J’habite à Zürich, près de l’Étang — 苏黎世 🦊."
    await mem0_memory.remember([NewFact(text=words, turn_id="t")], scope=ANN)
    assert await texts(mem0_memory) == [words]


async def test_a_holder_that_fails_lets_the_next_one_in(mem0_memory: Mem0Memory) -> None:
    with pytest.raises(RuntimeError):
        async with mem0_memory.locked(ANN):
            raise RuntimeError
    assert len(await mem0_memory.remember([TEA], scope=ANN)) == 1


async def test_writers_of_one_scope_take_turns(mem0_memory: Mem0Memory) -> None:
    async with mem0_memory.locked(user_scope("bob")):
        other = asyncio.create_task(mem0_memory.remember([TEA], scope=ANN))
        assert len(await other) == 1
    async with mem0_memory.locked(ANN):
        waiting = asyncio.create_task(_from_outside(mem0_memory))
        await asyncio.sleep(0.2)
        assert await mem0_memory.forget(scope=ANN) == 1
        assert not waiting.done()
    assert await waiting == 1


async def _from_outside(memory: Mem0Memory) -> int:
    """Remember without the turn that the task inherits."""
    async with open_memory(memory._table.db, memory._embedder, memory._data_dir) as other:
        return len(await other.remember([TEA], scope=ANN))


WRITER = """
import asyncio, sys
from pathlib import Path
from condensery.memory.mem0_store import open_memory
from condensery.memory.types import NewFact, user_scope
from condensery.settings import Settings
from condensery.storage.database import open_database
from condensery.testing import RecordingEmbedder

async def main():
    url, folder = sys.argv[1:]
    facts = [NewFact(text=f"I visited the town {n}.", turn_id=f"t{n}") for n in range(20)]
    async with open_database(Settings(database_url=url, data_dir=folder)) as db:
        async with open_memory(db, RecordingEmbedder(), Path(folder)) as memory:
            stored = [await memory.remember([fact], scope=user_scope("ann")) for fact in facts]
            print(sum(map(len, stored)))

asyncio.run(main())
"""


def _writer(url: str, folder: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen([sys.executable, "-c", WRITER, url, str(folder)], stdout=subprocess.PIPE, text=True)


async def test_two_processes_store_each_turn_once(database: Database, database_url: str, tmp_path: Path) -> None:
    with _writer(database_url, tmp_path / "a") as one, _writer(database_url, tmp_path / "b") as two:
        printed = [await asyncio.to_thread(each.communicate) for each in (one, two)]
    assert sum(int(out) for out, _ in printed) == 20
    async with open_memory(database, RecordingEmbedder(), tmp_path) as memory:
        assert len(await memory.list(scope=ANN, history=True)) == 20


async def test_a_restart_of_the_server_is_survived(short_dir: Path, shared_embedder: Embedder) -> None:
    async with open_database(Settings(data_dir=short_dir)) as db, open_memory(db, shared_embedder, short_dir) as memory:
        await memory.remember([TEA], scope=ANN)
        server = await asyncio.to_thread(start_server, short_dir)
        process = server.get_postmaster_info().process
        assert process is not None
        process.send_signal(signal.SIGINT)  # "fast": it waits for nobody
        await asyncio.to_thread(process.wait, 60)
        assert len(await memory.recall("tea", scope=ANN, limit=5, threshold=0.3)) == 1
        assert len(await memory.remember([OSLO], scope=ANN)) == 1


async def test_facts_of_another_embedding_model_are_an_error_that_names_the_way_out(
    database: Database, tmp_path: Path
) -> None:
    async with open_memory(database, RecordingEmbedder(name="one"), tmp_path) as memory:
        await memory.remember([TEA], scope=ANN)
    with pytest.raises(ConfigError, match=r"'one' \(384 dimensions\).*'two' \(64 dimensions\).*memory reembed"):
        async with open_memory(database, RecordingEmbedder(name="two", dimension=64), tmp_path):
            pass


async def test_an_empty_memory_takes_any_embedding_model(database: Database, tmp_path: Path) -> None:
    async with open_memory(database, RecordingEmbedder(name="one"), tmp_path):
        pass
    async with open_memory(database, RecordingEmbedder(name="two", dimension=64), tmp_path) as memory:
        assert len(await memory.remember([TEA], scope=ANN)) == 1


async def test_everything_can_be_embedded_anew(database: Database, tmp_path: Path) -> None:
    new, batches = RecordingEmbedder(name="two", dimension=64), list[int]()
    async with open_memory(database, RecordingEmbedder(name="one"), tmp_path) as old:
        await old.remember([TEA, OSLO], scope=ANN)
        await old.remember([BERGEN], scope=ANN)
        before = await old.list(scope=ANN, history=True)
        assert await reembed(database, new, batches.append) == 3
        assert sum(batches) == 3
        with pytest.raises(ConfigError, match="start this one anew"):
            await old.recall("tea", scope=ANN, limit=5, threshold=0)
        with pytest.raises(ConfigError, match="start this one anew"):
            await old.remember([OSLO], scope=ANN)
    async with open_memory(database, new, tmp_path) as memory:
        assert await memory.list(scope=ANN, history=True) == before
        [found] = await memory.recall("I like tea.", scope=ANN, limit=5, threshold=0.9)
        assert found.text == "I like tea."
        assert await memory.remember([TEA], scope=ANN) == []


async def test_an_empty_memory_can_be_embedded_anew(database: Database) -> None:
    assert await reembed(database, RecordingEmbedder()) == 0


async def test_notes_that_cannot_be_read_keep_no_program_from_starting(database: Database, tmp_path: Path) -> None:
    notes = history_path(tmp_path)
    notes.parent.mkdir(parents=True)
    notes.write_bytes(b"no SQLite file" * 100)
    async with open_memory(database, RecordingEmbedder(), tmp_path) as memory:
        assert await memory.list(scope=user_scope("ada")) == []
