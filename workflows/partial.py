"""A turn as far as it came: kept when it is stopped or fails, so that nothing a person saw is lost."""

from datetime import datetime

from llama_index.core.workflow import WorkflowTimeoutError

from condensery.errors import BrokenOff, Busy, Refusal, RefusalReason
from condensery.retrieval.types import ScoredChunk
from condensery.workflows.assembly import assembled
from condensery.workflows.citations import cited
from condensery.workflows.events import (
    AnswerDelta,
    CondensedQuestion,
    EvidenceReady,
    FactsUsed,
    SearchStarted,
    StageFinished,
    TurnFinished,
)
from condensery.workflows.turn import Outcome, StageRecord, Turn, TurnKey


class PartialTurn:
    """Watches the stream of a turn; `turn` is what has been seen of it."""

    def __init__(self, key: TurnKey, message: str) -> None:
        self._key = key
        self._message = message
        self._question: CondensedQuestion | None = None
        self._method: str | None = None
        self._mode: str | None = None
        self._evidence: tuple[ScoredChunk, ...] = ()
        self._memories: tuple[str, ...] = ()
        self._stages: list[StageRecord] = []
        self._text = ""
        self._shown = False
        self.asked_at: datetime | None = None
        self.finished = False

    @property
    def text(self) -> str:
        """The answer so far."""
        return self._text

    @property
    def question(self) -> CondensedQuestion | None:
        """The standalone question, once it was made."""
        return self._question

    @property
    def stages(self) -> int:
        """How many stages have ended."""
        return len(self._stages)

    @property
    def lacks_evidence(self) -> bool:
        """Whether a question was made, but no evidence has been shown yet."""
        return self._question is not None and not self._shown

    def see(self, event: object) -> None:
        """Take in one event of the stream."""
        match event:
            case CondensedQuestion():
                self._question = event
            case SearchStarted(method=method):
                self._method = method
            case EvidenceReady(chunks=chunks, mode=mode):
                self._evidence, self._mode, self._shown = chunks, mode, True
            case FactsUsed(facts=facts):
                self._memories += tuple(fact.id for fact in facts)
            case StageFinished(record=record):
                self._stages.append(record)
            case AnswerDelta(text=text):
                self._text += text
            case TurnFinished():
                self.finished = True

    def turn(self, outcome: Outcome, reason: RefusalReason | None = None) -> Turn:
        """The turn, ended here."""
        return assembled(
            self._key,
            self._message,
            answer=self._text,
            outcome=outcome,
            reason=reason,
            question=self._question,
            method=self._method,
            answer_mode=self._mode,
            evidence=self._evidence,
            citations=cited(self._text, self._evidence),
            memories=self._memories,
            stages=tuple(self._stages),
        )


def reason_of(error: BaseException) -> RefusalReason:
    """The reason a person is told for what ended a turn."""
    match error:
        case Refusal(reason=reason):
            return reason
        case BrokenOff():
            return RefusalReason.BROKEN_OFF
        case Busy():
            return RefusalReason.BUSY
        case WorkflowTimeoutError() | TimeoutError():
            return RefusalReason.TIMED_OUT
    return RefusalReason.FAILED
