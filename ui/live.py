"""One turn on the page while it happens."""

from condensery.errors import RefusalReason
from condensery.ui.page import Page
from condensery.ui.transcript import Place, Transcript
from condensery.workflows.events import (
    AnswerDelta,
    CondensedQuestion,
    FactsUsed,
    HypothesisMade,
    StageFinished,
    TurnEvent,
    TurnFinished,
)
from condensery.workflows.partial import PartialTurn
from condensery.workflows.turn import Outcome, StageRecord, Turn, TurnKey


class LiveTurn:
    """Shows a turn's events as they come; `stopped` and `failed` end it when there is no `TurnFinished`."""

    def __init__(self, page: Page, transcript: Transcript, place: Place, message: str) -> None:
        self._page = page
        self._transcript = transcript
        self._place = place
        self._seen = PartialTurn(TurnKey(turn_id=place.turn, conversation_id=place.thread_id), message)
        self._shown: dict[str, str] = {}  # by stage, what it made up or used; a reload shows it no more
        self._ended = False

    async def show(self, event: TurnEvent) -> None:
        """Bring one event to the page."""
        begun = bool(self._seen.text)
        self._seen.see(event)
        match event:
            case CondensedQuestion():
                await self._trace()
            case HypothesisMade(passage=passage):
                self._shown["hypothesize"] = passage
            case FactsUsed(facts=facts):
                self._shown["compose"] = "\n".join(f"- {fact.text}" for fact in facts)
            case StageFinished(record=record):
                await self._stage(record)
            case AnswerDelta(text=text) if begun or not text:
                await self._page.send_token(self._place.answer, text)
            case AnswerDelta(text=text):
                await self._page.stream_start(self._transcript.answer(self._place, text, streaming=True))
            case TurnFinished(turn=turn):
                await self._end(turn)

    async def stopped(self) -> None:
        """Mark what there is of the answer; one that is whole stays so."""
        if not self._ended:
            await self._end(self._seen.turn(Outcome.STOPPED))

    async def failed(self, text: str, reason: RefusalReason = RefusalReason.FAILED) -> None:
        """Say `text` below what there is of the answer."""
        self._seen.see(AnswerDelta(text=("\n\n" if self._seen.text else "") + text))
        await self._end(self._seen.turn(Outcome.FAILED, reason))

    async def _trace(self) -> None:
        step = self._transcript.trace(self._place, self._seen.turn(Outcome.STOPPED), running=True)
        await self._page.send_step(step)  # the page replaces a step it has

    async def _stage(self, record: StageRecord) -> None:
        if self._seen.stages == 1 or record.note:
            await self._trace()
        text = self._shown.get(record.stage, "")
        step = self._transcript.stage(self._place, self._seen.stages - 1, record, text)
        await self._page.send_step(step)

    async def _end(self, turn: Turn) -> None:
        self._ended = True
        if self._seen.stages:
            await self._page.send_step(self._transcript.trace(self._place, turn))
        for element in self._transcript.elements(self._place, turn.citations, turn.evidence):
            await self._page.send_element(element)
        await self._page.send_step(self._transcript.answer(self._place, self._transcript.text(turn)))
