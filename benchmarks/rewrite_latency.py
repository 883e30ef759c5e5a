"""How long `condense_context` takes for a rewrite with a local model, and how much of each prompt it has to read.

    python benchmarks/rewrite_latency.py MODEL.gguf [--turns DIR] [--limit 40] [--threads 0]

Rewrites the follow-ups of `evals/fixtures/follow_ups.json`, or the turns of a folder with `turns.jsonl`, twice each:
with nothing read but the rules and examples ("cold"), and after the conversation was read ahead, as happens while a
person reads the answer before ("read ahead"). Prints seconds and the tokens of the prompt that had to be read.
"""

import argparse
import asyncio
import json
import statistics
import time
from pathlib import Path
from typing import Any

from condensery.models.chat import ChatModel, open_chat_model
from condensery.prompts.loader import prompts_for
from condensery.settings import Llm, load_settings
from condensery.workflows.engines.condense_context import CondenseContext
from condensery.workflows.history import newest
from condensery.workflows.turn import Exchange

FOLLOW_UPS = Path(__file__).parents[1] / "evals" / "fixtures" / "follow_ups.json"
Case = tuple[str, tuple[Exchange, ...]]


def own_cases() -> list[Case]:
    """The follow-ups of the fixture with their histories."""
    cases = json.loads(FOLLOW_UPS.read_text(encoding="utf-8"))
    return [(case["message"], tuple(map(Exchange.model_validate, case["history"]))) for case in cases]


def cases_of(folder: Path) -> list[Case]:
    """The turns of a folder: user and assistant messages in pairs, then the message."""
    cases = []
    for line in (folder / "turns.jsonl").read_text(encoding="utf-8").splitlines():
        turn = json.loads(line)
        said = [each["content"] for each in turn["history"]]
        pairs = zip(said[::2], said[1::2], strict=False)
        cases.append((turn["message"], tuple(Exchange(message=asked, answer=answer) for asked, answer in pairs)))
    return cases


class Counter:
    """Counts what the model reads, and forgets between cases what it has read of the one before."""

    def __init__(self, chat: ChatModel) -> None:
        owner: Any = chat.llm._runtime._owner  # type: ignore[attr-defined]
        self.owner, self.read = owner, 0
        evaluate = owner._model.eval

        def counted(tokens: list[int]) -> None:
            self.read += len(tokens) if len(tokens) > 1 else 0  # one at a time: the reply
            evaluate(tokens)

        owner._model.eval = counted

    def forget(self) -> None:
        """Leave what the case before shares with the next: rules and examples."""
        self.owner._prefixes._copies.clear()


async def measure(engine: CondenseContext, counter: Counter, cases: list[Case], ahead: bool) -> None:
    """Rewrite every case and print a line."""
    seconds, read = [], []
    for message, history in cases:
        counter.forget()
        if ahead:
            await engine.read_ahead(history)
        counter.read, started = 0, time.perf_counter()
        await engine.prepare(message, history)
        seconds.append(time.perf_counter() - started)
        read.append(counter.read)
    p50, p95 = statistics.median(seconds), statistics.quantiles(seconds, n=20)[-1]
    name = "read ahead" if ahead else "cold"
    print(f"{name:12} p50 {p50:6.2f} s  p95 {p95:6.2f} s  tokens read, p50 {statistics.median(read):5.0f}", flush=True)


async def main(model: str, turns: Path | None, limit: int, threads: int) -> None:
    """Open the model, measure both ways, print."""
    chat = open_chat_model(Llm(model=model, threads=threads))
    if chat is None:
        raise SystemExit("name a model")
    settings = load_settings(condense={"engine": "condense_context"})
    engine = CondenseContext(settings, chat, prompts_for("en"))
    most = settings.condense.history_turns
    given = cases_of(turns) if turns else own_cases()
    cases = [(message, newest(history, most)) for message, history in given][:limit]
    await engine.prepare(*cases[0])
    counter = Counter(chat)
    print(f"{len(cases)} rewrites")
    for ahead in (False, True):
        await measure(engine, counter, cases, ahead)
    await chat.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--turns", type=Path)
    parser.add_argument("--limit", type=int, default=40)
    parser.add_argument("--threads", type=int, default=0)
    asyncio.run(main(**vars(parser.parse_args())))
