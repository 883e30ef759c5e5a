"""Follow-up questions over the example documents, answered without a model.

    python evals/follow_ups.py [--method hybrid] [--engine expand_context] [--misses]

Ingests `examples/docs` into a fresh embedded Postgres and puts the last message of every conversation of
`evals/fixtures/follow_ups.json` to the agent, with its scripted history. Per kind of message, prints how often the
chunk that holds the answer came first, and how often its sentence was quoted: first, or at all.
"""

import argparse
import asyncio
import json
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from condensery.app import App, open_app
from condensery.settings import load_settings
from condensery.workflows.events import AgentCall, TurnFinished
from condensery.workflows.turn import Exchange, Turn, TurnKey, TurnOptions

ROOT = Path(__file__).parents[1]
CONTROLS = frozenset({"topic_shift", "standalone"})
"""Kinds of messages that do not lean on their history."""


@dataclass(frozen=True)
class Result:
    """A conversation and the turn that its last message became."""

    name: str
    kind: str
    sentence: str
    turn: Turn

    @property
    def evidence_first(self) -> bool:
        """Whether the first chunk holds the answer."""
        return bool(self.turn.evidence) and self.sentence in _one_line(self.turn.evidence[0].chunk.text)

    @property
    def quoted(self) -> bool:
        """Whether the sentence that answers is among the quotes."""
        return any(self.sentence in _one_line(citation.quote or "") for citation in self.turn.citations)

    @property
    def quoted_first(self) -> bool:
        """Whether it is the first quote."""
        return self.sentence in _one_line(self.turn.citations[0].quote or "") if self.turn.citations else False

    @property
    def right(self) -> bool:
        """Whether the right evidence came first and the right sentence was quoted."""
        return self.evidence_first and self.quoted


def conversations() -> list[dict[str, Any]]:
    """The fixture."""
    fixture = ROOT / "evals" / "fixtures" / "follow_ups.json"
    return cast(list[dict[str, Any]], json.loads(fixture.read_text(encoding="utf-8")))


def start_of(case: dict[str, Any], options: TurnOptions | None = None, turn_id: str | None = None) -> AgentCall:
    """The start of the turn that a conversation's last message becomes."""
    return AgentCall(
        key=TurnKey(turn_id=turn_id or case["name"], conversation_id=case["name"]),
        message=case["message"],
        history=tuple(Exchange.model_validate(exchange) for exchange in case["history"]),
        options=options or TurnOptions(),
    )


async def results(app: App, options: TurnOptions | None = None) -> AsyncIterator[Result]:
    """Put every conversation to the agent."""
    for case in conversations():
        finished = cast(TurnFinished, await app.agent.run(start_event=start_of(case, options)))
        yield Result(case["name"], case["kind"], _one_line(case["sentence"]), finished.turn)


def table(found: list[Result]) -> str:
    """Counts per kind, and for all follow-ups together."""
    kinds: dict[str, list[Result]] = defaultdict(list)
    for result in found:
        kinds[result.kind].append(result)
    kinds["all follow-ups"] = [result for result in found if result.kind not in CONTROLS]
    lines = [f"{'kind':16} {'n':>3} {'evidence first':>15} {'quoted first':>13} {'quoted':>7} {'right':>6}"]
    for kind, rows in kinds.items():
        first, quoted_first, quoted, right = (
            sum(getattr(row, name) for row in rows) for name in ("evidence_first", "quoted_first", "quoted", "right")
        )
        lines.append(f"{kind:16} {len(rows):>3} {first:>15} {quoted_first:>13} {quoted:>7} {right:>6}")
    return "\n".join(lines)


def _one_line(text: str) -> str:
    return " ".join(text.split())


async def main(method: str | None, engine: str | None, misses: bool) -> None:
    """Ingest, ask, print."""
    with tempfile.TemporaryDirectory(prefix="cnd-", ignore_cleanup_errors=True) as folder:
        async with open_app(load_settings(data_dir=Path(folder))) as app:
            await app.ingest([ROOT / "examples/docs"])
            found = [result async for result in results(app, TurnOptions(engine=engine, method=method))]
    print(table(found))
    for result in found if misses else ():
        if not result.right:
            print(
                f"\n{result.name}: {result.turn.question}\n  wanted {result.sentence}\n  got    {result.turn.answer!r}"
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--method")
    parser.add_argument("--engine")
    parser.add_argument("--misses", action="store_true", help="show what went wrong")
    asyncio.run(main(**vars(parser.parse_args())))
