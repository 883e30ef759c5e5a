"""No fact of one ever reaches another, whatever the ids, and however their reading and writing are mixed."""

import asyncio
import json
import random
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import text

from condensery.memory.mem0_rows import owner_of, payload_of
from condensery.memory.mem0_store import Mem0Memory, open_memory
from condensery.memory.types import MemoryScope, NewFact, organization_scope, user_scope
from condensery.storage.database import Database
from condensery.storage.memories import TABLE
from condensery.testing import RecordingEmbedder

USERS = 20
STEPS = 50

INSERT = text(f"INSERT INTO {TABLE} SELECT gen_random_uuid(), CAST(:vector AS vector), CAST(:payload AS jsonb)")

ODD_IDS = [
    "alice",
    "alice ",
    " alice",
    "Alice",
    "al ice",
    "alice\n",
    "*",
    "%",
    "_",
    "$or",
    "' OR '1'='1",
    '"}',
    "null",
    "None",
    "0",
    "ålice",
    "a\u030alice",
    "爱丽丝",
    "🦊",
    "x" * 256,
    "x" * 255 + "y",
    "user-alice",
    '{"ne": "x"}',
]


@pytest.fixture
async def memory(database: Database, tmp_path: Path) -> AsyncIterator[Mem0Memory]:
    """mem0 over vectors that cost nothing; every fact resembles every question a little or not at all."""
    async with open_memory(database, RecordingEmbedder(), tmp_path) as memory:
        yield memory


async def test_ids_that_look_alike_or_like_commands_are_people_of_their_own(memory: Mem0Memory) -> None:
    scopes = [scope(each) for each in ODD_IDS for scope in (user_scope, organization_scope)]
    for number, scope in enumerate(scopes):
        await memory.remember([NewFact(text=f"I visited the town {number}.", turn_id="t")], scope=scope)
    for number, scope in enumerate(scopes):
        assert [fact.text for fact in await memory.list(scope=scope, history=True)] == [f"I visited the town {number}."]
        assert len(await memory.recall("town", scope=scope, limit=50, threshold=0)) == 1
    for gone, scope in enumerate(scopes):
        assert await memory.forget(scope=scope) == 1
        assert await memory.recall("town", scope=scope, limit=50, threshold=0) == []
        assert len(await rows(memory)) == len(scopes) - gone - 1


async def rows(memory: Mem0Memory) -> list[dict[str, object]]:
    async with memory._table.db.transaction() as connection:
        return list((await connection.execute(text(f"SELECT payload FROM {TABLE}"))).scalars())  # noqa: S608


async def test_no_fact_reaches_another_and_none_outlives_its_forgetting(memory: Mem0Memory) -> None:
    seed = random.randrange(2**32)  # noqa: S311
    lives = (live(memory, user_scope(f"user {n}"), random.Random(seed + n)) for n in range(USERS))  # noqa: S311
    steps = await asyncio.gather(*lives)
    assert sum(steps) == USERS * STEPS, f"seed {seed}"


async def live(memory: Mem0Memory, scope: MemoryScope, chance: random.Random) -> int:
    """Remember, recall, list and forget at random, and compare with what one user must have; the steps taken."""
    known: dict[str, NewFact] = {}
    for step in range(STEPS):
        match chance.choice(["remember", "remember", "recall", "list", "forget", "forget one"]):
            case "remember":
                new = [_fact(scope, step, number) for number in range(chance.randint(1, 2))]
                await memory.remember(new, scope=scope)
                known |= {fact.text: fact for fact in new}
            case "recall":
                question = chance.choice([*known, "What town?", "*"])
                found = await memory.recall(question, scope=scope, limit=100, threshold=0)
                assert {fact.text for fact in found} == set(known)
            case "list":
                assert {fact.text for fact in await memory.list(scope=scope, history=True)} == set(known)
            case "forget" if chance.random() < 0.3:
                assert await memory.forget(scope=scope) == len(known)
                known = {}
                assert await memory.recall("What town?", scope=scope, limit=100, threshold=0) == []
            case "forget one" if known:
                where = chance.choice(list(known.values())).conversation_id
                gone = [text for text, fact in known.items() if fact.conversation_id == where]
                assert await memory.forget(scope=scope, conversation_id=where) == len(gone)
                known = {text: fact for text, fact in known.items() if text not in gone}
        await asyncio.sleep(0)
    return STEPS


def _fact(scope: MemoryScope, step: int, number: int) -> NewFact:
    words = f"I, {scope.id}, visited the town {step * 2 + number + 100}."
    return NewFact(text=words, turn_id=f"turn {step}", conversation_id=f"conversation {step % 5}")


@pytest.mark.parametrize("forced", [False, True], ids=["as planned", "by the vector index"])
async def test_few_facts_are_found_among_many_of_others_that_are_nearer(
    database: Database, tmp_path: Path, forced: bool
) -> None:
    embedder = RecordingEmbedder()
    async with open_memory(database, embedder, tmp_path) as memory:
        near = await embedder.embed_query("the question")
        await _fill(database, near, 10_000)
        if forced:
            await _leave_only_the_vector_index(database)
        own = user_scope("me")
        facts = [NewFact(text=f"I visited the town {number}.", turn_id="t") for number in range(3)]
        await memory.remember(facts, scope=own)
        found = await memory.recall("the question", scope=own, limit=5, threshold=0)
        assert {fact.text for fact in found} == {fact.text for fact in facts}
        assert not forced or f"{TABLE}_nearest" in await asyncio.to_thread(_plan, memory)


async def _fill(database: Database, vector: Sequence[float], count: int) -> None:
    """Facts of a hundred others, all of them nearly where the question is."""
    chance = np.random.default_rng(7)
    rows = []
    for number in range(count):
        new, scope = NewFact(text="x", turn_id=f"{number}"), user_scope(f"other {number % 100}")
        payload = payload_of(new, scope) | dict([owner_of(scope)]) | {"data": "not mine"}
        near = np.array(vector) + chance.normal(scale=0.01, size=len(vector))
        rows.append({"payload": json.dumps(payload), "vector": str(near.tolist())})
    async with database.transaction() as connection:
        await connection.execute(text(f"DROP INDEX {TABLE}_nearest"))
        await connection.execute(INSERT, rows)
        await connection.execute(text(f"CREATE INDEX {TABLE}_nearest ON {TABLE} USING hnsw (vector vector_cosine_ops)"))
        await connection.execute(text("ANALYZE"))


async def _leave_only_the_vector_index(database: Database) -> None:
    """mem0's connections, which are made later, find no other way to the facts of a user."""
    async with database.transaction() as connection:
        await connection.execute(text(f"DROP INDEX {TABLE}_by_user"))
        name = (await connection.execute(text("SELECT current_database()"))).scalar_one()
        for way in ("seqscan", "bitmapscan", "sort"):
            await connection.execute(text(f"ALTER DATABASE {name} SET enable_{way} = off"))


def _plan(memory: Mem0Memory) -> str:
    field, owner = owner_of(user_scope("me"))
    query = f"EXPLAIN SELECT id FROM {TABLE} WHERE payload->>'{field}' = '{owner}' ORDER BY vector <=> "  # noqa: S608
    with memory._pool.connection() as connection:
        return str(connection.execute(f"{query} '{[1.0] * 384}' LIMIT 5").fetchall())
