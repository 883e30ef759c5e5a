"""Puts every turn to every configuration; what was measured until an interruption is kept."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from condensery.app import App
from condensery.errors import CondenseryError, ConfigError, RefusalReason
from condensery.evals.choices import BASELINE, needs_model
from condensery.evals.data import STANDALONE_KINDS, Case, Data
from condensery.evals.judging import Judge
from condensery.evals.metrics import change
from condensery.evals.peer import Peer
from condensery.evals.results import PEER, Configuration, Row, summarize
from condensery.evals.searching import SearchAgent, SearchFinished, search
from condensery.retrieval.types import ScoredChunk

log = logging.getLogger(__name__)

AT_ONCE = 4
"""Turns in flight where nothing waits for a model that writes; with one, a turn at a time."""


@dataclass
class Measured:
    """One configuration in the making: a row per turn, by its place in the data."""

    engine: str
    method: str
    rows: dict[int, Row] = field(default_factory=dict)


@dataclass
class Evaluation:
    """A run over `data`. `on_turn` is told the configuration whenever one more turn is done."""

    app: App
    data: Data
    judge: Judge
    on_turn: Callable[[str], None]
    measured: list[Measured] = field(default_factory=list)

    async def run(self, engines: Sequence[str], methods: Sequence[str], peer: Peer | None = None) -> None:
        """Measure every engine with every method, `BASELINE` first; cancelled, what was measured stays."""
        agent = SearchAgent(self.app.services)
        for method in methods:
            for engine in engines:
                await self._configuration(agent, engine, method)
            if peer is not None:
                await self._peer(peer, method)

    def configurations(self) -> list[Configuration]:
        """What was measured so far."""
        return [
            summarize(each.engine, each.method, self._rows(each), self.judge.score, complete=self._complete(each))
            for each in self.measured
            if each.rows
        ]

    async def _configuration(self, agent: SearchAgent, engine: str, method: str) -> None:
        measured = self._begin(engine, method)
        slots = asyncio.Semaphore(await self._at_once(engine, method))

        async def one(number: int, case: Case) -> None:
            async with slots:
                measured.rows[number] = row_of(case, await found_by(agent, case, engine, method), self.judge)
                self.on_turn(f"{engine} · {method}")

        try:
            async with asyncio.TaskGroup() as group:
                for number, case in enumerate(self.data.cases):
                    group.create_task(one(number, case))
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None

    async def _at_once(self, engine: str, method: str) -> int:
        plan = self.app.services.plan(method)
        waits = plan.hyde or plan.reranked or await needs_model(self.app.services, engine)
        return 1 if waits else AT_ONCE

    async def _peer(self, peer: Peer, method: str) -> None:
        measured = self._begin(PEER, method)
        for number, case in enumerate(self.data.cases):
            measured.rows[number] = await self._peer_row(peer, case, method)
            self.on_turn(f"{PEER} · {method}")

    async def _peer_row(self, peer: Peer, case: Case, method: str) -> Row:
        """The peer's row; one that finds nothing when it fails, as with a history too long for the model."""
        try:
            found = await peer.search(case, method)
        except Exception as error:
            log.warning("%s failed at the peer: %s", case.place, named(error))
            return row_with(case, self.judge, None, (), ms={}, fallback=RefusalReason.FAILED)
        return row_with(case, self.judge, found.question, found.chunks, ms=found.ms)

    def _begin(self, engine: str, method: str) -> Measured:
        self.measured.append(Measured(engine, method))
        return self.measured[-1]

    def _complete(self, measured: Measured) -> bool:
        return len(measured.rows) == len(self.data.cases)

    def _rows(self, measured: Measured) -> list[Row]:
        """The rows in the order of the data, compared with those of the raw message where these are there."""
        raw = next(
            (each.rows for each in self.measured if (each.engine, each.method) == (BASELINE, measured.method)), {}
        )
        return [
            compared(row, raw[number], self.judge.score) if number in raw else row
            for number, row in sorted(measured.rows.items())
        ]


async def found_by(agent: SearchAgent, case: Case, engine: str, method: str) -> SearchFinished:
    """What the turn finds; nothing when it fails, as it would in a chat. Raises `ConfigError`."""
    try:
        return await search(agent, case, engine, method)
    except ConfigError:
        raise
    except Exception as error:
        log.warning("%s failed: %s", case.place, named(error))
        return SearchFinished(reason=RefusalReason.FAILED)


def named(error: Exception) -> str:
    """Our own errors in their words, any other by its kind."""
    return str(error) if isinstance(error, CondenseryError) else type(error).__name__


def row_of(case: Case, found: SearchFinished, judge: Judge) -> Row:
    """A turn's row, not compared with the raw message yet."""
    question = found.question
    return row_with(
        case,
        judge,
        question.question if question else None,
        found.chunks,
        fallback=question.fallback if question and question.fallback else found.reason,
        notes=tuple(
            record.note for record in found.stages if record.note and record.degraded and record.stage != "condense"
        ),
        ms={record.stage: record.ms for record in found.stages},
    )


def row_with(
    case: Case,
    judge: Judge,
    question: str | None,
    chunks: Sequence[ScoredChunk],
    *,
    ms: dict[str, float],
    fallback: str | None = None,
    notes: tuple[str, ...] = (),
) -> Row:
    """The row of a turn that searched for `question` and found `chunks`."""
    ranks = judge.ranks(case, chunks)
    return Row(
        case=case.name,
        kind=case.kind,
        follow_up=bool(case.history) and case.kind not in STANDALONE_KINDS,
        message=case.message,
        question=question,
        ranks=tuple(ranks),
        metrics=judge.metrics(case, ranks),
        fallback=fallback,
        notes=notes,
        ms=ms,
    )


def compared(row: Row, raw: Row, score: str) -> Row:
    """The row with what became of it against the raw message."""
    return row.model_copy(update={"change": change(row.metrics[score], raw.metrics[score])})
