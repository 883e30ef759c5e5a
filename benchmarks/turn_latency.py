"""Time of a whole extractive turn, stage by stage, outside the embedding of the question.

    python benchmarks/turn_latency.py --chunks 10000 --rounds 4

Ingests `examples/docs` into a fresh embedded Postgres, fills the index up with synthetic chunks, warms everything up,
and asks the follow-up questions of `evals/fixtures/follow_ups.json`. Prints milliseconds; `--json` for machines.
"""

import argparse
import asyncio
import dataclasses
import json
import statistics
import tempfile
import time
import uuid
from collections import defaultdict
from pathlib import Path
from typing import Any

from condensery.app import App, open_app
from condensery.benchmarks.synthetic import fill
from condensery.evals.follow_ups import conversations
from condensery.models.embedding import Embedder
from condensery.settings import load_settings
from condensery.storage.index import open_chunk_store
from condensery.workflows.turn import Outcome, Turn, TurnKey

ROOT = Path(__file__).parents[1]


class TimedEmbedder:
    """Passes on to an embedder and adds up how long embedding questions takes."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.ms = 0.0

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)

    async def embed_query(self, text: str) -> list[float]:
        """Embed, and take the time."""
        started = time.perf_counter()
        try:
            return await self._inner.embed_query(text)
        finally:
            self.ms += (time.perf_counter() - started) * 1000


async def seed(app: App, case: dict[str, Any]) -> str:
    """Store the conversation's earlier turns; returns its id."""
    conversation = str(uuid.uuid4())
    for exchange in case["history"]:
        key = TurnKey(turn_id=str(uuid.uuid4()), conversation_id=conversation)
        await app.services.turns.save(Turn(key=key, outcome=Outcome.ANSWERED, **exchange))
    return conversation


async def measure(app: App, embedder: TimedEmbedder, rounds: int) -> dict[str, list[float]]:
    """Milliseconds of every turn from `ask` to its end, history and storing included, and of its stages."""
    times: dict[str, list[float]] = defaultdict(list)
    for case in [case for _ in range(rounds) for case in conversations()]:
        conversation = await seed(app, case)
        embedder.ms, started = 0.0, time.perf_counter()
        turn = await app.ask(case["message"], conversation_id=conversation)
        total = (time.perf_counter() - started) * 1000
        times["turn"].append(total)
        times["embedding the question"].append(embedder.ms)
        times["turn without embedding"].append(total - embedder.ms)
        for record in turn.stages:
            times[f"stage {record.stage}"].append(record.ms)
    return times


def with_timed_embedder(app: App) -> tuple[App, TimedEmbedder]:
    """The same app over an embedder that takes its time."""
    embedder = TimedEmbedder(app.services.embedder)
    retrieval = dataclasses.replace(app.services.retrieval, embedder=embedder)  # type: ignore[arg-type]
    return App(dataclasses.replace(app.services, embedder=embedder, retrieval=retrieval)), embedder  # type: ignore[arg-type]


async def main(chunks: int, rounds: int, as_json: bool) -> None:
    """Fill, warm up, measure, print."""
    with tempfile.TemporaryDirectory(prefix="cnd-", ignore_cleanup_errors=True) as folder:
        async with open_app(load_settings(data_dir=Path(folder))) as opened:
            report = await opened.ingest([ROOT / "examples/docs"])
            services = opened.services
            store = await open_chunk_store(
                services.database, model=services.embedder.name, dimension=services.embedder.dimension
            )
            await fill(services.database, store, services.documents, count=chunks - report.chunks)
            app, embedder = with_timed_embedder(opened)
            await measure(app, embedder, 1)
            times = await measure(app, embedder, rounds)
    figures = {
        name: {"p50": round(statistics.median(values), 2), "p95": round(statistics.quantiles(values, n=20)[-1], 2)}
        for name, values in times.items()
    }
    if as_json:
        print(json.dumps({"chunks": chunks, "turns": len(times["turn"]), "ms": figures}, indent=2))
        return
    print(f"{len(times['turn'])} turns over {chunks} chunks; milliseconds (stages run in parallel and include waiting)")
    for name, row in figures.items():
        print(f"{name:34} p50 {row['p50']:7.2f}   p95 {row['p95']:7.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=4, help="times each of the follow-up questions is asked")
    parser.add_argument("--json", action="store_true", dest="as_json")
    asyncio.run(main(**vars(parser.parse_args())))
