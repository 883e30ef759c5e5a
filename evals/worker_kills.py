"""Whether every fact is stored exactly once when workers are killed (-9) at random, under load.

    python evals/worker_kills.py --kills 100

Two workers store what the turns of 20 users say while more turns are added; one of the two at a time is killed at a
random moment and replaced. At the end every fact of every turn must be in the memory once. Exit code 1 when one is not.
"""

import argparse
import asyncio
import multiprocessing
import random
import signal
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path

from condensery.app import App, open_app
from condensery.memory.extraction import RuleExtractor
from condensery.memory.types import NewFact, user_scope
from condensery.memory.writing import OutboxWriter
from condensery.settings import Settings, load_settings
from condensery.storage.outbox import MEMORY
from condensery.workflows.turn import OutboxEntry, Outcome, Turn, TurnKey

WORKERS = 2
USERS = 20
TURNS_PER_KILL = 3
LONGEST_LIFE = 1.5
"""Seconds after which a worker that has begun is killed at the latest; most of them it has something to store."""
MEMORY_SETTINGS = {"in_process": False, "retry_seconds": 0.1, "attempts": 100, "extraction_seconds": 1}
SLOWEST_SEARCH = 0.4
"""Seconds to find the facts of a turn."""
PRELOADED = ["condensery.app", "condensery.evals.worker_kills", "openai", "posthog", "qdrant_client", "psycopg_pool",
             "sentence_transformers"]  # fmt: skip


@dataclass(frozen=True)
class Outcomes:
    """What became of the facts: how many there are, and those stored not once with how often they were."""

    kills: int
    facts: int
    wrong: dict[str, int]


def serve(settings: Settings, began: str) -> None:
    """A worker, until it is killed; it makes the file `began` when it is ready to write."""
    asyncio.run(_serve(settings, Path(began)))


async def _serve(settings: Settings, began: Path) -> None:
    async with open_app(settings) as app:
        services = app.services
        writer = OutboxWriter(services.outbox, services.memory, services.memory_users, _find_slowly, settings.memory)
        await asyncio.to_thread(began.touch)
        while True:
            if not await writer.write_next():
                await asyncio.sleep(0.02)


async def _find_slowly(question: str, answer: str) -> list[NewFact]:
    """As slow as a model can be, so that many are killed while they ask one."""
    await asyncio.sleep(random.uniform(0, SLOWEST_SEARCH))  # noqa: S311
    return await RuleExtractor().extract(question, answer)


async def kill_workers(folder: Path, kills: int, seed: int) -> Outcomes:
    """Kill `kills` workers on a memory in `folder`, let a last one finish, and count."""
    settings = load_settings(data_dir=folder, llm={"model": "none"}, memory=MEMORY_SETTINGS)
    dice = random.Random(seed)  # noqa: S311  # moments, no secrets
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    expected: Counter[str] = Counter()
    async with open_app(settings) as app:
        running = [_worker(context, settings, folder) for _ in range(WORKERS)]
        for number in range(kills):
            expected.update(await _say(app, number))
            process, began = running.pop(dice.randrange(WORKERS))
            await _killed(process, began, dice.uniform(0, LONGEST_LIFE))
            running.append(_worker(context, settings, folder))
            _show(number + 1, kills)
        await _until(partial(_nothing_waits, app))
        for process, _ in running:
            process.kill()
            await asyncio.to_thread(process.join)
        return Outcomes(kills, expected.total(), await _wrong(app, expected))


def _worker(context: ForkServerContext, settings: Settings, folder: Path) -> tuple[ForkServerProcess, Path]:
    began = folder / f"began-{uuid.uuid4()}"
    process = context.Process(target=serve, args=(settings, str(began)), daemon=True)
    process.start()
    return process, began


async def _killed(process: ForkServerProcess, began: Path, after: float) -> None:
    """Kill `process` that long after it began to write."""
    await _until(partial(_has_begun, process, began))
    await asyncio.sleep(after)
    process.kill()
    await asyncio.to_thread(process.join)
    if process.exitcode != -signal.SIGKILL:
        raise RuntimeError(f"a worker ended by itself with exit code {process.exitcode}")


async def _until(true: Callable[[], Awaitable[bool]]) -> None:
    while not await true():  # noqa: ASYNC110
        await asyncio.sleep(0.02)  # nothing tells us: it is another process that makes it true


async def _nothing_waits(app: App) -> bool:
    return not await app.services.outbox.waiting()


async def _has_begun(process: ForkServerProcess, began: Path) -> bool:
    if process.exitcode is not None:
        raise RuntimeError(f"a worker ended by itself with exit code {process.exitcode}")
    return await asyncio.to_thread(began.exists)


async def _say(app: App, number: int) -> Sequence[str]:
    """Store a few turns, each with two facts of its own; return the facts with their users."""
    said: list[str] = []
    for turn in range(number * TURNS_PER_KILL, (number + 1) * TURNS_PER_KILL):
        user = f"user {turn % USERS}"
        facts = [f"My locker number is {turn}.", f"I collect stamps of series {turn}."]
        key = TurnKey(turn_id=f"turn {turn}", conversation_id=f"conversation {turn % USERS}", user_id=user)
        entry = OutboxEntry(turn_id=key.turn_id, kind=MEMORY, payload={"question": " ".join(facts), "answer": ""})
        await app.services.turns.save(
            Turn(key=key, message=" ".join(facts), answer="Fine.", outcome=Outcome.ANSWERED), entry
        )
        said += [f"{user}: {fact}" for fact in facts]
    return said


async def _wrong(app: App, expected: Counter[str]) -> dict[str, int]:
    """The facts that are there not as often as expected, also any that nobody stated."""
    found: Counter[str] = Counter()
    for number in range(USERS):
        user = f"user {number}"
        facts = await app.services.memory.list(scope=user_scope(user), history=True)
        found.update(f"{user}: {fact.text}" for fact in facts)
    return {fact: found[fact] for fact in sorted(found | expected) if found[fact] != expected[fact]}


def _show(done: int, kills: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done} of {kills} workers killed", end="" if done < kills else "\n", file=sys.stderr, flush=True)


def main(kills: int, seed: int) -> int:
    """Kill, count, print; the exit code."""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="cnd-", ignore_cleanup_errors=True) as folder:
        outcomes = asyncio.run(kill_workers(Path(folder), kills, seed))
    print(
        f"{outcomes.kills} workers killed in {time.perf_counter() - started:.0f} s: of {outcomes.facts} facts "
        f"{outcomes.facts - len(outcomes.wrong)} were stored exactly once"
    )
    for fact, count in outcomes.wrong.items():
        print(f"  {count} times: {fact}")
    return 1 if outcomes.wrong else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1, help="of the moments at which workers are killed")
    sys.exit(main(**vars(parser.parse_args())))
