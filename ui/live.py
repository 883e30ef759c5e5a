"""One turn on the page while it happens."""

from collections.abc import Sequence

from condensery.retrieval.types import ScoredChunk
from condensery.ui.markdown import without_directives
from condensery.ui.page import Page
from condensery.ui.transcript import Place, Transcript
from condensery.workflows.citations import cited
from condensery.workflows.events import (
    AnswerDelta,
    CondensedQuestion,
    EvidenceReady,
    HypothesisMade,
    StageFinished,
    TurnEvent,
    TurnFinished,
)
from condensery.workflows.turn import Citation, StageRecord


class LiveTurn:
    """Shows a turn's events as they come; `stopped` and `failed` end it when there is no `TurnFinished`."""

    def __init__(self, page: Page, transcript: Transcript, place: Place) -> None:
        self._page = page
        self._transcript = transcript
        self._place = place
        self._question: str | None = None
        self._stages: list[StageRecord] = []
        self._passage = ""  # shown below the stage that ends next, which made it up; a reload shows it no more
        self._evidence: tuple[ScoredChunk, ...] = ()
        self._answer = ""
        self._ended = False

    async def show(self, event: TurnEvent) -> None:
        """Bring one event to the page."""
        match event:
            case CondensedQuestion(question=question, condensed=condensed):
                self._question = question if condensed else None
                await self._trace()
            case HypothesisMade(passage=passage):
                self._passage = passage
            case StageFinished(record=record):
                await self._stage(record)
            case EvidenceReady(chunks=chunks):
                self._evidence = chunks
            case AnswerDelta(text=text):
                await self._delta(text)
            case TurnFinished(turn=turn):
                self._question, self._evidence = turn.question, turn.evidence
                await self._end(self._transcript.text(turn), turn.citations)

    async def stopped(self) -> None:
        """Mark what there is of the answer; one that is whole stays so."""
        if self._ended:
            return
        citations = cited(self._answer, self._evidence)
        answer = without_directives(self._answer)
        await self._end(self._transcript.marked(answer, citations, stopped=True), citations)

    async def failed(self, text: str) -> None:
        """Say `text` below what there is of the answer."""
        await self._end("\n\n".join(filter(None, [without_directives(self._answer), text])), ())

    async def _trace(self, *, running: bool = True) -> None:
        step = self._transcript.trace(self._place, self._question, self._stages, running=running)
        await self._page.send_step(step)  # the page replaces a step it has

    async def _stage(self, record: StageRecord) -> None:
        if not self._stages or record.note:
            self._stages.append(record)
            await self._trace()
        else:
            self._stages.append(record)
        step = self._transcript.stage(self._place, len(self._stages) - 1, record, self._passage)
        self._passage = ""
        await self._page.send_step(step)

    async def _delta(self, text: str) -> None:
        if self._answer or not text:
            await self._page.send_token(self._place.answer, text)
        else:
            await self._page.stream_start(self._transcript.answer(self._place, text, streaming=True))
        self._answer += text

    async def _end(self, text: str, citations: Sequence[Citation]) -> None:
        self._ended = True
        if self._stages:
            await self._trace(running=False)
        for element in self._transcript.elements(self._place, citations, self._evidence):
            await self._page.send_element(element)
        await self._page.send_step(self._transcript.answer(self._place, text))
