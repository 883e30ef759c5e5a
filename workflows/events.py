"""The vocabulary of a turn: one event per hand-off.

`ChatStart`, `HistoryLimited`, `EnrichedHistory` and `AnswerPrompt` carry the user's own words; everything that
searches, remembers or asks an expert descends from `CondensedQuestion`, which does not.
"""

from datetime import datetime
from typing import Annotated, Any, Self

from llama_index.core.workflow import Event, StartEvent, StopEvent
from pydantic import AfterValidator, Field, model_validator

from condensery.errors import RefusalReason
from condensery.memory.types import Fact, Remembered
from condensery.retrieval.text import is_blank
from condensery.retrieval.types import Frozen, Probe, ScoredChunk
from condensery.workflows.turn import (
    Citation,
    Exchange,
    FallbackReason,
    OutboxEntry,
    Outcome,
    StageRecord,
    Turn,
    TurnKey,
    TurnOptions,
)


def not_blank(text: str) -> str:
    """Return `text`; raise ValueError when it has no visible character."""
    if is_blank(text):
        raise ValueError("must not be blank")
    return text


class Strict:
    """LlamaIndex's events accept any field in silence; ours refuse what they do not declare."""

    def __init__(self, **fields: Any) -> None:
        known = set(type(self).model_fields) | set(type(self).__private_attributes__)  # type: ignore[attr-defined]
        if unknown := sorted(set(fields) - known):
            raise TypeError(f"{type(self).__name__} has no field {', '.join(unknown)}")
        super().__init__(**fields)

    def __repr__(self) -> str:
        """The name alone: the engine renders every event for its traces, and a trace is no place for people's words."""
        return f"{type(self).__name__}()"

    __str__ = __repr__


class StrictEvent(Strict, Event):
    """A hand-off between steps."""


# --- the start, and what may see the user's own words ---


class ChatStart(Strict, StartEvent):
    """A chat message with its history, oldest first."""

    key: TurnKey
    message: str
    history: tuple[Exchange, ...] = ()
    options: TurnOptions = TurnOptions()
    asked_at: datetime | None = Field(None, description="The database's time when the message came.")


class AgentCall(ChatStart):
    """The programmatic start: skips the meta-question gate."""


class HistoryLimited(StrictEvent):
    """The raw message and as much history as the model that reads it may see."""

    key: TurnKey
    message: str
    history: tuple[Exchange, ...]
    options: TurnOptions


class ChatCleared(StrictEvent):
    """The gate let the message through. Carries nothing: it is a permission."""


class MetaQuestion(StrictEvent):
    """Small talk or a question about the assistant itself: `kind` names a reply, `locale` its language."""

    key: TurnKey
    kind: str
    locale: str
    small_talk: bool
    options: TurnOptions = TurnOptions()


# --- the single gated entry, and its descendants ---


class CondensedQuestion(StrictEvent):
    """The standalone question: never blank, never longer than `max_chars` characters, on a replayed event too."""

    key: TurnKey
    question: Annotated[str, AfterValidator(not_blank)]
    max_chars: int = Field(gt=0)
    engine: str
    condensed: bool = Field(description="Whether the question differs from the user's message.")
    fallback: FallbackReason | None = None
    probes: tuple[Probe, ...] = Field((), description="What a search weighs in place of the question as one text.")
    options: TurnOptions = TurnOptions()

    @property
    def lent(self) -> bool:
        """Whether earlier turns count in a search for the message itself."""
        return not self.condensed and len(self.probes) > 1

    @model_validator(mode="after")
    def check_length(self) -> Self:
        for name, text in (("question", self.question), *(("probe", probe.text) for probe in self.probes)):
            if len(text) > self.max_chars:
                raise ValueError(f"{name} has {len(text)} characters, more than max_chars = {self.max_chars}")
        return self


class SearchRequest(StrictEvent):
    """Search for the question, or on a later hop for `query`."""

    question: CondensedQuestion
    query: Annotated[str, AfterValidator(not_blank)]
    probes: tuple[Probe, ...] = Field((), description="What a search weighs in place of `query`.")
    hop: int = 1
    found: tuple[ScoredChunk, ...] = Field((), description="What earlier hops brought, best first.")
    asked: tuple[str, ...] = Field((), description="What earlier hops searched for.")


class QuestionRejected(StrictEvent):
    """No search will run: the question could not be made, or a guard refused it (`question` is then given)."""

    reason: RefusalReason
    question: CondensedQuestion | None = None


class SearchProbe(StrictEvent):
    """A request, the method's full path, and the hypothetical passage that the dense arm embeds, if there is one."""

    request: SearchRequest
    method: str
    passage: str | None = None


class Retrieved(StrictEvent):
    """Results best first, with their traces."""

    request: SearchRequest
    method: str
    chunks: tuple[ScoredChunk, ...]


class Ranked(StrictEvent):
    """Results after reranking against the real question, best first."""

    request: SearchRequest
    method: str
    chunks: tuple[ScoredChunk, ...]


class ContextAccepted(StrictEvent):
    """The evidence the answer may use, best first."""

    question: CondensedQuestion
    method: str
    chunks: tuple[ScoredChunk, ...]
    doubt: tuple[str, ...] | None = Field(None, description="Of evidence that may not answer: what it says nothing of.")


class ContextRejected(StrictEvent):
    """Nothing was found, or what was found does not suffice; `missing` names what it says nothing about."""

    question: CondensedQuestion
    method: str
    chunks: tuple[ScoredChunk, ...] = ()
    missing: tuple[str, ...] = ()


class UserMemories(StrictEvent):
    """Facts of this user that bear on the question, strongest first."""

    facts: tuple[Fact, ...] = ()


class OrganizationMemories(StrictEvent):
    """Approved facts of this organization that bear on the question, strongest first."""

    facts: tuple[Fact, ...] = ()


class EnrichedHistory(StrictEvent):
    """The user's message with limited history and memory blocks, for the answer prompt only."""

    message: str
    history: tuple[Exchange, ...]
    memories: tuple[Remembered, ...] = Field((), description="What was recalled, the dearest first.")


class PromptMessage(Frozen):
    """One message of a prompt; `role` is system, user or assistant."""

    role: str
    content: str


class AnswerPrompt(StrictEvent):
    """What the answer is made from. `messages` is empty when the answer is extractive."""

    question: CondensedQuestion
    method: str
    chunks: tuple[ScoredChunk, ...] = Field(description="Exactly the chunks sent, in citation order: [1] is the first.")
    messages: tuple[PromptMessage, ...] = ()
    memories: tuple[Remembered, ...] = Field((), description="Exactly the facts sent.")
    doubt: tuple[str, ...] | None = Field(None, description="As in `ContextAccepted`; an answer then says so.")


class Answered(StrictEvent):
    """The finished answer with checked citations."""

    answer: str
    mode: str
    method: str
    chunks: tuple[ScoredChunk, ...]
    citations: tuple[Citation, ...] = ()
    memories: tuple[str, ...] = Field((), description="Ids of the facts it was made with.")
    own: str = Field("", description="What a generated answer says in words of its own: no document's, no memory's.")
    outcome: Outcome = Outcome.ANSWERED
    reason: RefusalReason | None = None


class TurnEnded(StrictEvent):
    """A turn complete but for the user's message, which only `finish` joins to it again, to store it."""

    answer: str
    outcome: Outcome
    reason: RefusalReason | None = None
    question: CondensedQuestion | None = None
    answered: Answered | None = None
    evidence: tuple[ScoredChunk, ...] = Field((), description="What is shown beside a refusal.")
    method: str | None = None
    outbox: OutboxEntry | None = None


class TurnFinished(Strict, StopEvent):
    """The last event of a turn; `turn` is what was stored."""

    turn: Turn


# --- for whoever watches the stream ---


class HypothesisMade(StrictEvent):
    """The invented passage the dense arm searches with. Only ever shown while the turn runs: nothing stores it."""

    passage: str


class FactsUsed(StrictEvent):
    """The recalled facts that the answer is made with; shown while the turn runs, and kept by their ids."""

    facts: tuple[Remembered, ...]


class SearchStarted(StrictEvent):
    """A search begins, with this method; for whoever keeps a turn that ends early, and no part of `TurnEvent`."""

    method: str


class EvidenceReady(StrictEvent):
    """The chunks the answer is made from, in citation order, and how it is made; no mode: there is no answer."""

    chunks: tuple[ScoredChunk, ...]
    mode: str | None = None


class AnswerDelta(StrictEvent):
    """A piece of the answer's text; joined, the pieces are the answer."""

    text: str


class StageFinished(StrictEvent):
    """A stage ended: its time and, when it degraded, why."""

    record: StageRecord


TurnEvent = CondensedQuestion | HypothesisMade | FactsUsed | EvidenceReady | AnswerDelta | StageFinished | TurnFinished

OWN_WORDS: frozenset[type] = frozenset((ChatStart, AgentCall, HistoryLimited, EnrichedHistory, AnswerPrompt))
"""The events that carry the user's own words; the steps that accept them are pinned by a test."""
