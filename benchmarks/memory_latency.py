"""What memory adds to a turn: the same questions with memory on and off, in turns, over 10,000 stored facts.

    python benchmarks/memory_latency.py --facts 10000 --rounds 4

Ingests `examples/docs`, fills the memory with `--facts` facts of the user who asks and as many of others, and asks
every question of `evals/fixtures/follow_ups.json`, in its conversation, once with memory on and once with it off.
Without a language model. Prints milliseconds at the median and the 95th percentile, and the difference; `--json` for
machines.
"""

import argparse
import asyncio
import json
import statistics
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

from sqlalchemy import text

from condensery.app import App, open_app
from condensery.benchmarks.memory_recall import fill
from condensery.evals.follow_ups import conversations
from condensery.settings import load_settings
from condensery.workflows.turn import Outcome, Turn, TurnKey

ROOT = Path(__file__).parents[1]
USER = "one"
OTHERS = 2000


async def ask(app: App, case: dict[str, Any]) -> float:
    """Milliseconds of a turn from `ask` to its end, after the turns before it."""
    conversation = str(uuid.uuid4())
    for exchange in case["history"]:
        key = TurnKey(turn_id=str(uuid.uuid4()), conversation_id=conversation, user_id=USER)
        await app.services.turns.save(Turn(key=key, outcome=Outcome.ANSWERED, **exchange))
    started = time.perf_counter()
    await app.ask(case["message"], conversation_id=conversation, user_id=USER)
    return (time.perf_counter() - started) * 1000


async def measure(app: App, rounds: int) -> dict[str, list[float]]:
    """Every question with memory on and off; which of the two comes first changes from question to question."""
    times: dict[str, list[float]] = {"on": [], "off": []}
    for number, question in enumerate(conversations() * rounds):
        for state in ("on", "off") if number % 2 else ("off", "on"):
            await app.set_settings({"memory.enabled": state == "on"})
            times[state].append(await ask(app, question))
    return times


async def main(facts: int, rounds: int, as_json: bool) -> None:
    """Fill, warm up, measure, print."""
    with tempfile.TemporaryDirectory(prefix="cnd-", ignore_cleanup_errors=True) as folder:
        settings = load_settings(data_dir=Path(folder), llm={"model": "none"})
        async with open_app(settings) as app:
            await app.ingest([ROOT / "examples/docs"])
            await fill(app.services.database, facts, OTHERS)
            async with app.services.database.transaction() as connection:
                await connection.execute(text("ANALYZE memories"))  # as autovacuum does within minutes
            await app.warm()
            await measure(app, 1)
            times = await measure(app, rounds)
    figures = {
        state: {"p50": statistics.median(values), "p95": statistics.quantiles(values, n=20)[-1]}
        for state, values in times.items()
    }
    added = {name: figures["on"][name] - figures["off"][name] for name in ("p50", "p95")}
    if as_json:
        print(json.dumps({"facts": facts, "turns": len(times["on"]), "ms": figures | {"added": added}}, indent=2))
        return
    print(f"{len(times['on'])} turns each way, {facts} facts of the user and {facts} of {OTHERS} others; milliseconds")
    for name, row in (figures | {"added": added}).items():
        print(f"memory {name:6} p50 {row['p50']:7.2f}   p95 {row['p95']:7.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--facts", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=4, help="times each question is asked each way")
    parser.add_argument("--json", action="store_true", dest="as_json")
    asyncio.run(main(**vars(parser.parse_args())))
