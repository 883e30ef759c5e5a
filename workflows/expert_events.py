"""The events on the way to an expert and back. None carries the user's own words: an expert sees the question alone."""

from llama_index.core.workflow import HumanResponseEvent, InputRequiredEvent, StartEvent, StopEvent

from condensery.errors import RefusalReason
from condensery.retrieval.types import ScoredChunk
from condensery.workflows.events import CondensedQuestion, Strict, StrictEvent
from condensery.workflows.turn import Citation, Outcome


class ConsentHeard(StrictEvent):
    """The user said yes or no to having a question sent, in the language `locale`."""

    request_id: str
    given: bool
    locale: str


class ConsultationStart(Strict, StartEvent):
    """Ask an expert this: the start of a run that waits, maybe for days, and is kept in the database meanwhile."""

    request_id: str
    question: CondensedQuestion
    locale: str


class ExpertAsked(Strict, InputRequiredEvent):
    """The channel has the question; the run waits for an `ExpertSettled`."""

    request_id: str


class ExpertSettled(Strict, HumanResponseEvent):
    """There is something to tell the user: a reply, or that none will come. What, the table of requests says."""

    request_id: str


class ExpertAnswered(StrictEvent):
    """What the user is told, as the answer to the question."""

    answer: str
    outcome: Outcome
    reason: RefusalReason | None = None
    expert: str | None = None
    evidence: tuple[ScoredChunk, ...] = ()
    citations: tuple[Citation, ...] = ()


class ConsultationOver(Strict, StopEvent):
    """The turn of that id tells the user."""

    turn_id: str
