"""How long a person waits: before the search starts, and for the first piece of the answer; ours beside the peer's.

Everything runs in one process with one model. A conversation is put to one system after the other as a whole, each in
turn going first, so that either finds the model as its own last turn left it, as in use, and a machine that slows
down slows both.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from llama_index.core.workflow import Context

from condensery.agents.rag import RAGAgent
from condensery.errors import RefusalReason
from condensery.evals.data import Case, Data
from condensery.evals.judging import Judge
from condensery.evals.metrics import percentile
from condensery.evals.peer import Peer, closed
from condensery.evals.results import PEER, Configuration, Row, summarize
from condensery.evals.running import named, row_with
from condensery.retrieval.types import ScoredChunk
from condensery.services import Services
from condensery.workflows.events import (
    AgentCall,
    AnswerDelta,
    CondensedQuestion,
    ContextAccepted,
    ContextRejected,
    Ranked,
    SearchRequest,
    StageFinished,
    TurnFinished,
)
from condensery.workflows.reading_ahead import make_ready
from condensery.workflows.stage import stage
from condensery.workflows.turn import TurnKey, TurnOptions

log = logging.getLogger(__name__)

BEFORE, FIRST = "before_search", "first_token"
"""Milliseconds from the start of a turn to its standalone question, and to the first piece of its answer."""

AHEAD = "read_ahead"
"""Milliseconds spent before the turn, while a person reads the last answer; no one waits for them."""

STOP_SECONDS = 10.0
System = Callable[[Case], Awaitable["Waited"]]


@dataclass
class Waited:
    """What a turn searched for and found, and when."""

    question: str | None = None
    chunks: tuple[ScoredChunk, ...] = ()
    fallback: str | None = None
    ms: dict[str, float] = field(default_factory=dict)


class WatchedAgent(RAGAgent):
    """The agent of the product; whoever watches a run of it also sees what was found, in its order."""

    @stage
    async def judge_context(self, ctx: Context, ranked: Ranked) -> ContextAccepted | ContextRejected | SearchRequest:
        """Show the results, and go on."""
        ctx.write_event_to_stream(ranked)
        return await super().judge_context(ctx, ranked)


def ours(services: Services, engine: str, method: str) -> System:
    """One of our engines, as a turn of the app runs it; the turn is stopped at the first piece of its answer.

    Before it, what the app makes ready while a person reads the last answer is made ready (`history.read_ahead`).
    """
    agent = WatchedAgent(services)

    async def turn(case: Case) -> Waited:
        waited, resting = Waited(), time.perf_counter()
        if case.history and services.settings.history.read_ahead:
            await make_ready(services, engine, case.history)
        began = time.perf_counter()
        waited.ms[AHEAD] = round((began - resting) * 1000, 2)
        handler = agent.run(start_event=_start(case, engine, method))
        try:
            async for event in handler.stream_events():
                if _see(waited, event, (time.perf_counter() - began) * 1000):
                    break
        finally:
            await _stop(handler)
        if FIRST not in waited.ms:
            waited.fallback = waited.fallback or RefusalReason.FAILED
        return waited

    return turn


def theirs(peer: Peer, method: str) -> System:
    """The peer, stopped at the first piece of its answer."""

    async def turn(case: Case) -> Waited:
        engine, retriever = peer.engine(case, method)
        began = time.perf_counter()
        response = await engine.astream_chat(case.message)
        try:
            async for token in response.async_response_gen():
                if token.strip():
                    break
            first = time.perf_counter() - began
        finally:
            if task := response.awrite_response_to_history_task:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
            await closed(engine)
        ms = {
            BEFORE: (retriever.began - began) * 1000,
            "condense": (retriever.began - began) * 1000,
            "retrieve": (retriever.ended - retriever.began) * 1000,
            FIRST: first * 1000,
        }
        return Waited(retriever.asked, retriever.found, ms={stage: round(each, 2) for stage, each in ms.items()})

    return turn


@dataclass
class LatencyRun:
    """Times of several systems on the same turns."""

    data: Data
    judge: Judge
    systems: Mapping[str, System]
    method: str
    on_turn: Callable[[str], None]
    rows: dict[str, list[Row]] = field(default_factory=dict)

    async def run(self, conversations: Sequence[Sequence[Case]]) -> None:
        """Measure; cancelled, what was measured stays. One turn of each system before, untimed, loads what loads."""
        names = list(self.systems)
        for name in names:
            await self._waited(name, conversations[0][-1])
        for number, cases in enumerate(conversations):
            first = number % len(names)
            for name in names[first:] + names[:first]:
                for case in cases:
                    waited = await self._waited(name, case)
                    row = row_with(
                        case, self.judge, waited.question, waited.chunks, ms=waited.ms, fallback=waited.fallback
                    )
                    self.rows.setdefault(name, []).append(row)
                    self.on_turn(name)

    async def _waited(self, name: str, case: Case) -> Waited:
        """A turn of one system; one that found nothing and took no time that counts, when it failed."""
        try:
            return await self.systems[name](case)
        except Exception as error:
            log.warning("%s failed at %s: %s", case.place, name, named(error))
            return Waited(fallback=RefusalReason.FAILED)

    def configurations(self) -> list[Configuration]:
        """What was measured so far."""
        return [summarize(name, self.method, rows, self.judge.score) for name, rows in self.rows.items()]

    def summary(self) -> dict[str, Any]:
        """Times of turns with a history, and each engine's ratio to the peer's: below 1 is quicker."""
        followed = {name: [row for row in rows if row.follow_up] for name, rows in self.rows.items()}
        return {
            name: {
                "turns": len(rows),
                **{each: spread([row.ms[each] for row in rows if each in row.ms]) for each in (BEFORE, FIRST)},
                **({"ratio_to_peer": ratio} if (ratio := against(rows, followed.get(PEER, []))) else {}),
            }
            for name, rows in followed.items()
            if rows
        }


def spread(values: Sequence[float]) -> dict[str, float]:
    """The median and the slow end, in milliseconds."""
    return {f"p{each}": round(percentile(values, each), 2) for each in (50, 95)} if values else {}


def against(rows: Sequence[Row], peer: Sequence[Row]) -> dict[str, float] | None:
    """Ours over the peer's time to the first piece: of the medians, and the median over turns of both."""
    waits = {row.case: row.ms[FIRST] for row in peer if FIRST in row.ms}
    pairs = [(row.ms[FIRST], waits[row.case]) for row in rows if FIRST in row.ms and row.case in waits]
    if not pairs or rows == peer:
        return None
    mine, other = zip(*pairs, strict=True)
    return {
        "of_medians": round(percentile(mine, 50) / percentile(other, 50), 3),
        "median_of_turns": round(percentile([a / b for a, b in pairs], 50), 3),
    }


def some_conversations(data: Data, most: int) -> list[list[Case]]:
    """At most `most` conversations of the data, spread evenly over it; all of them for 0."""
    found = [list(cases) for _, cases in groupby(data.cases, key=lambda case: case.conversation)]
    if not most or most >= len(found):
        return found
    return [found[int(number * len(found) / most)] for number in range(most)]


def _start(case: Case, engine: str, method: str) -> AgentCall:
    return AgentCall(
        key=TurnKey(turn_id=f"{engine} {case.name} {time.monotonic_ns()}", conversation_id=case.conversation),
        message=case.message,
        history=case.history,
        options=TurnOptions(engine=engine, method=method),
    )


def _see(waited: Waited, event: object, ms: float) -> bool:
    """Take in an event at its time; whether the turn need not go on."""
    match event:
        case CondensedQuestion(question=question, fallback=fallback):
            waited.question, waited.fallback = question, fallback
            waited.ms[BEFORE] = round(ms, 2)
        case Ranked(chunks=chunks):
            waited.chunks = chunks
        case StageFinished(record=record):
            waited.ms[record.stage] = record.ms
        case AnswerDelta(text=text) if text.strip() and waited.question is not None:
            waited.ms[FIRST] = round(ms, 2)
            return True
        case TurnFinished(turn=turn):
            waited.fallback = waited.fallback or turn.reason
            return True
    return False


async def _stop(handler: Any) -> None:
    """End a run and wait until the model is free again."""
    if not handler.is_done():
        await handler.cancel_run()
    with suppress(Exception):
        await asyncio.wait_for(handler, STOP_SECONDS)
