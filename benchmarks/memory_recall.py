"""Time of one recall among many facts, and what ways of searching that were not chosen would take and find.

    python benchmarks/memory_recall.py --facts 10000 --users 2000 --rounds 200

Fills a fresh embedded Postgres with `--facts` facts of one user and as many of `--users` others, with vectors scattered
around a few topics, and asks for both kinds of user. Prints milliseconds at the median and the 95th percentile, and how
many of the nearest facts each way finds. The question's vector is ready beforehand; `--json` for machines.
"""

import argparse
import asyncio
import hashlib
import json
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import text

from condensery.memory.mem0_rows import holding, owner_of, payload_of
from condensery.memory.mem0_store import Mem0Memory, open_memory
from condensery.memory.types import MemoryScope, NewFact, user_scope
from condensery.settings import Settings
from condensery.storage.database import Database, open_database
from condensery.storage.memories import TABLE

LIMIT = 5
DIMENSION = 384
TOPICS = 200
NO_HNSW = f"DROP INDEX {TABLE}_nearest"

Way = Callable[[MemoryScope, str], Awaitable[Sequence[str]]]


class ScatteredEmbedder:
    """Unit vectors around topics, as those of short statements are: the same ones for the same text."""

    name = "scattered"
    dimension = DIMENSION

    def __init__(self) -> None:
        self._topics = np.random.default_rng(0).normal(size=(TOPICS, DIMENSION))

    def vector(self, words: str) -> list[float]:
        """The vector of `words`."""
        number = int.from_bytes(hashlib.sha256(words.encode()).digest()[:8], "big")
        random = np.random.default_rng(number)
        vector = self._topics[number % TOPICS] + random.normal(size=DIMENSION)
        return [float(value) for value in vector / np.linalg.norm(vector)]

    async def embed_query(self, words: str) -> list[float]:
        """At once: embedding is not what is timed."""
        return self.vector(words)

    async def embed_documents(self, texts: Sequence[str], on_batch: Any = None) -> list[list[float]]:
        """At once, too."""
        return [self.vector(words) for words in texts]


async def fill(db: Database, facts: int, users: int) -> None:
    """Put `facts` facts of the user "one" and `facts` facts of `users` others into the table, as mem0 writes them.

    Their vectors are scattered, whatever the embedding model of the memory is.
    """
    embedder = ScatteredEmbedder()
    owners = [user_scope("one")] * facts + [user_scope(f"user {i % users}") for i in range(facts)]
    rows = []
    for number, scope in enumerate(owners):
        words = f"I keep the thing with the number {number} on the shelf behind the door."
        fact = NewFact(text=words, turn_id=f"turn {number}", conversation_id=f"conversation {number // 10}")
        payload = payload_of(fact, scope) | dict([owner_of(scope)]) | {"data": words, "text_lemmatized": words}
        rows.append({"payload": json.dumps(payload), "vector": str(embedder.vector(words))})
    statement = text(f"INSERT INTO {TABLE} SELECT gen_random_uuid(), CAST(:vector AS vector), CAST(:payload AS jsonb)")
    async with db.transaction() as connection:
        await connection.execute(statement, rows)


async def run(facts: int, users: int, rounds: int) -> dict[str, dict[str, float]]:
    """Every way, for a user of many facts and for users of few."""
    with tempfile.TemporaryDirectory(prefix="cnd-") as folder:
        settings = Settings.model_validate({"data_dir": folder})
        embedder = ScatteredEmbedder()
        async with open_database(settings) as db, open_memory(db, embedder, Path(folder)) as memory:  # type: ignore[arg-type]
            await fill(db, facts, users)
            return await _compared(db, memory, embedder, users, rounds)


async def _compared(
    db: Database, memory: Mem0Memory, embedder: ScatteredEmbedder, users: int, rounds: int
) -> dict[str, dict[str, float]]:
    mem0 = await memory._opened()

    async def recall(scope: MemoryScope, question: str) -> Sequence[str]:
        return [fact.id for fact in await memory.recall(question, scope=scope, limit=LIMIT, threshold=0)]

    async def searched(scope: MemoryScope, question: str) -> Sequence[str]:
        found = await mem0.search(question, filters=dict([owner_of(scope)]), top_k=LIMIT, threshold=0)
        return [each["id"] for each in found["results"]]

    async def bare(scope: MemoryScope, question: str) -> Sequence[str]:
        vector = embedder.vector(question)
        found = await asyncio.to_thread(mem0.vector_store.search, "", vector, LIMIT, holding(scope, date.today()))
        return [row.id for row in found]

    whose = {"many facts": [user_scope("one")], "few facts": [user_scope(f"user {i}") for i in range(users)]}
    figures = {}
    for label, statements in (("", []), ("analyzed, ", ["ANALYZE"]), ("no HNSW, ", [NO_HNSW])):
        for statement in statements:
            await _execute(db, statement)
        for kind, scopes in whose.items():
            ways: dict[str, Way] = {"recall": recall, "mem0's table alone": bare, "mem0's search": searched}
            for name, way in ways.items():
                figures[f"{label}{name}, {kind}"] = await _timed(way, db, embedder, scopes, rounds)
    return figures


async def _timed(
    way: Way, db: Database, embedder: ScatteredEmbedder, scopes: Sequence[MemoryScope], rounds: int
) -> dict[str, float]:
    times, right = [], []
    for number in range(rounds + 10):
        scope, question = scopes[number * 37 % len(scopes)], f"question {number}"
        started = time.perf_counter()
        found = await way(scope, question)
        times.append((time.perf_counter() - started) * 1000)
        exact = await _nearest(db, embedder.vector(question), scope)
        right.append(len(set(found) & exact) / len(exact))
    times = times[10:]
    return {
        "p50": round(statistics.median(times), 2),
        "p95": round(statistics.quantiles(times, n=20)[-1], 2),
        "found": round(statistics.mean(right), 3),
        "worst": round(min(right), 3),
    }


async def _nearest(db: Database, vector: list[float], scope: MemoryScope) -> set[str]:
    """What a search without any index finds."""
    field, owner = owner_of(scope)
    query = (
        f"SELECT id FROM (SELECT id, vector, payload FROM {TABLE} OFFSET 0) all_of_them "  # noqa: S608
        f"WHERE payload->>'{field}' = :owner ORDER BY vector <=> CAST(:vector AS vector) LIMIT {LIMIT}"
    )
    async with db.transaction() as connection:
        rows = await connection.execute(text(query), {"owner": owner, "vector": str(vector)})
        return {str(row.id) for row in rows}


async def _execute(db: Database, statement: str) -> None:
    async with db.transaction() as connection:
        await connection.execute(text(statement))


def main() -> None:
    """Fill, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--facts", type=int, default=10_000)
    parser.add_argument("--users", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures = asyncio.run(run(options.facts, options.users, options.rounds))
    if options.json:
        print(json.dumps(figures, indent=2))
        return
    print(f"{'':52} {'p50 ms':>8} {'p95 ms':>8} {'found':>7} {'worst':>7}")
    for name, row in figures.items():
        print(f"{name:52} {row['p50']:8.2f} {row['p95']:8.2f} {row['found']:7.3f} {row['worst']:7.3f}")


if __name__ == "__main__":
    main()
