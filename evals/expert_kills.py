"""Whether every run that waits for an expert comes to the right answer when its processes are killed (-9).

    python evals/expert_kills.py --runs 200

One process lets users ask what no document answers, and consent; it is killed when all runs wait. Others take replies
and are killed in the middle of that (`--kills`); a last one takes the rest. At the end each conversation must hold the
answer to its own question, once, and the store no run that is over. Exit code 1 otherwise.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import sys
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path

from sqlalchemy import text

from condensery.app import App, open_app
from condensery.errors import CondenseryError
from condensery.experts.types import OPEN, RequestState
from condensery.settings import Settings, load_settings
from condensery.workflows.turn import Outcome

PRELOADED = ["condensery.app", "condensery.evals.expert_kills", "llama_agents.server", "sentence_transformers"]
AGENTS = {"desk": {"kind": "expert_rag"}}
LONGEST_LIFE = 2.0
"""Seconds after which a process that takes replies is killed at the latest."""
CODE = 7919
"""What makes the answers to different questions differ."""


@dataclass(frozen=True)
class Held:
    """What one process holds at a moment; `connections` are those of the runs' store."""

    tasks: int
    threads: int
    connections: int


@dataclass(frozen=True)
class Outcomes:
    """What became of the runs; `before` and `while_waiting` are what the process held without and with them."""

    runs: int
    kills: int
    wrong: dict[str, str]
    left_in_store: int
    before: Held
    while_waiting: Held
    seconds_to_ask: float
    seconds_to_resume: float


def question(number: int) -> str:
    """A question that no document answers."""
    return f"What is the code of locker {number}?"


def reply(number: int) -> str:
    """The right answer to it."""
    return f"The code of locker {number} is {number * CODE}."


def ask_all(settings: Settings, runs: int, report: str) -> None:
    """The process in which users ask; when all runs wait it writes `report` and stays until it is killed."""
    asyncio.run(_ask_all(settings, runs, Path(report)))


async def _ask_all(settings: Settings, runs: int, report: Path) -> None:
    async with open_app(settings) as app:
        await _ask(app, "warm")
        await _at_rest(app, 1)
        before, began = await _held(app), time.monotonic()
        for number in range(runs):
            await _ask(app, f"c{number}", question(number))
        await _at_rest(app, runs + 1)
        seconds = time.monotonic() - began
        held = {"before": asdict(before), "while_waiting": asdict(await _held(app)), "seconds": seconds}
        await asyncio.to_thread(report.write_text, json.dumps(held))
        await asyncio.sleep(3600)


async def _ask(app: App, conversation: str, message: str = "What is the weather like in Bergen?") -> None:
    await app.ask(message, conversation_id=conversation, agent="desk")
    asked = await app.ask("yes", conversation_id=conversation, agent="desk")
    if asked.outcome is not Outcome.ASKS_EXPERT:
        raise RuntimeError(f"{message!r} was not sent to an expert: {asked.answer}")


async def _at_rest(app: App, count: int) -> None:
    """Wait until `count` runs wait, and nothing else is going on."""

    async def waiting() -> bool:
        open_now = await app.services.expert_requests.within([RequestState.SENT])
        return len(open_now) == count and not app.experts.runs.is_open

    await _until(waiting)
    await app.experts.runs.close()
    await asyncio.sleep(0.5)


async def _held(app: App) -> Held:
    query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = ''"
    connections = await _scalar(app, query)
    return Held(tasks=len(asyncio.all_tasks()), threads=threading.active_count(), connections=connections)


def answer_all(settings: Settings, began: str) -> None:
    """A process that takes replies for whatever is open; it makes the file `began` when it starts."""
    asyncio.run(_answer_all(settings, Path(began)))


async def _answer_all(settings: Settings, began: Path) -> None:
    async with open_app(settings) as app:
        await asyncio.to_thread(began.touch)
        await app.experts.settle_all()
        waiting = await app.experts.list()
        random.shuffle(waiting)
        for request in waiting:
            if request.conversation_id != "warm":
                try:
                    await app.experts.answer(request.id, reply(_number(request.conversation_id)), expert="Weber")
                except CondenseryError as error:
                    print(error, file=sys.stderr)


def _number(conversation_id: str) -> int:
    return int(conversation_id.removeprefix("c"))


async def kill_experts(folder: Path, runs: int, kills: int, seed: int) -> Outcomes:
    """Let `runs` runs wait, kill every process that touches them but the last, and look."""
    settings = load_settings(data_dir=folder, llm={"model": "none"}, memory={"enabled": False}, agents=AGENTS)
    dice = random.Random(seed)  # noqa: S311  # moments, no secrets
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    async with open_app(settings) as app:  # keeps the database up, and touches no run
        report = folder / "report.json"
        await _run(context, ask_all, (settings, runs, str(report)), report, then=0.0)
        held = json.loads(await asyncio.to_thread(report.read_text))
        for number in range(kills):
            began = folder / f"began-{number}"
            await _run(context, answer_all, (settings, str(began)), began, then=dice.uniform(0, LONGEST_LIFE))
        started = time.monotonic()
        await _run(context, answer_all, (settings, str(folder / "last")), None)
        seconds = time.monotonic() - started
        wrong = {f"c{number}": fault for number in range(runs) if (fault := await _fault(app, number))}
        left = await _scalar(app, "SELECT count(*) FROM condensery_runs.wf_handlers")
        return Outcomes(
            runs=runs,
            kills=kills + 1,
            wrong=wrong,
            left_in_store=left - 1,  # the one that warmed the first process still waits
            before=Held(**held["before"]),
            while_waiting=Held(**held["while_waiting"]),
            seconds_to_ask=round(held["seconds"], 1),
            seconds_to_resume=round(seconds, 1),
        )


async def _run(
    context: ForkServerContext,
    work: Callable[..., None],
    arguments: tuple[object, ...],
    sign: Path | None,
    then: float = 0.0,
) -> None:
    """Run `work` in a process until it ends; or kill it `then` seconds after it made the file `sign`."""
    process: ForkServerProcess = context.Process(target=work, args=arguments, daemon=True)
    process.start()
    if sign is not None:

        async def seen() -> bool:
            return process.exitcode is not None or await asyncio.to_thread(sign.exists)

        await _until(seen)
        await asyncio.sleep(then)
        if process.pid is not None and process.exitcode is None:
            os.kill(process.pid, 9)
    await asyncio.to_thread(process.join)
    if process.exitcode not in (0, -9):
        raise RuntimeError(f"{work.__name__} ended with exit code {process.exitcode}")


async def _until(true: Callable[[], Awaitable[bool]]) -> None:
    while not await true():  # noqa: ASYNC110
        await asyncio.sleep(0.05)  # nothing tells us: it is another process that makes it true


async def _fault(app: App, number: int) -> str | None:
    """What is wrong with the answer of a conversation."""
    turns = await app.history(f"c{number}")
    answers = [turn.answer for turn in turns if turn.outcome is Outcome.ANSWERED]
    if len(answers) != 1:
        return f"{len(answers)} answers"
    if f"“{reply(number)}” [1]" not in answers[0]:
        return f"the wrong answer: {answers[0]}"
    (request,) = [each for each in await app.services.expert_requests.within([RequestState.ANSWERED, *OPEN])
                  if each.conversation_id == f"c{number}"]  # fmt: skip
    return None if request.closed_at else "not closed"


async def _scalar(app: App, query: str) -> int:
    async with app.services.database.transaction() as connection:
        return int((await connection.execute(text(query))).scalar_one())


def main() -> int:
    """Run it and print what came of it as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--kills", type=int, default=3, help="processes killed while they take replies")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cnd-") as folder:
        outcomes = asyncio.run(kill_experts(Path(folder), given.runs, given.kills, given.seed))
    print(json.dumps(asdict(outcomes), indent=2))
    return 1 if outcomes.wrong or outcomes.left_in_store else 0


if __name__ == "__main__":
    sys.exit(main())
