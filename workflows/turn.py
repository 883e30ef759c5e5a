"""A turn as it is stored and returned: what was asked, what was searched for, what was answered and from what."""

from datetime import UTC, datetime
from enum import StrEnum

from pydantic import Field, JsonValue, ValidationInfo, field_validator

from condensery.memory.ids import short_enough
from condensery.retrieval.types import Frozen, Scope, ScoredChunk


class FallbackReason(StrEnum):
    """Why a turn was searched with something simpler than the chosen engine or stage would have given."""

    ERROR = "error"
    TIMED_OUT = "timed_out"
    BLANK = "blank"
    TOO_LONG = "too_long"
    UNGROUNDED = "ungrounded"
    LOST_WORDS = "lost_words"
    OTHER_LANGUAGE = "other_language"
    UNFINISHED_THINKING = "unfinished_thinking"
    NO_MODEL = "no_model"
    REFUSED = "refused"
    SWITCHED_OFF = "switched_off"


LENT = "searched together with the last turns"
"""The note of the stage `condense` when earlier turns count in a search for the message itself."""


DOUBTFUL = "may not answer the question"
"""The note of the stage `judge_context` when an answer is given with the reservation that it may not be one."""


class Outcome(StrEnum):
    """How a turn ended."""

    ANSWERED = "answered"
    SMALL_TALK = "small_talk"
    META = "meta"
    REFUSED = "refused"
    ASKS_CONSENT = "asks_consent"
    ASKS_EXPERT = "asks_expert"
    STOPPED = "stopped"
    FAILED = "failed"


class Exchange(Frozen):
    """One earlier turn as history carries it: both sides, never the evidence."""

    message: str
    answer: str
    evidenced: bool = Field(True, description="Whether the answer was made from documents: no refusal, no small talk.")
    quoted: bool = Field(False, description="Whether the answer is nothing but quotes from documents.")
    shortened: bool = Field(False, description="Whether `message` is only the question of a long one, as of a paste.")

    def __repr__(self) -> str:
        """Sizes only: the workflow engine renders what events carry, and traces are no place for people's words."""
        return f"Exchange({len(self.message)} and {len(self.answer)} characters)"


class TurnKey(Frozen):
    """Who asks, where. `user_id` scopes long-term memory; `None` means no memory."""

    turn_id: str
    conversation_id: str
    user_id: str | None = None
    organization_id: str | None = None

    @field_validator("turn_id", "conversation_id", "user_id", "organization_id")
    @classmethod
    def _fits_an_index(cls, value: str | None, info: ValidationInfo) -> str | None:
        return value if value is None else short_enough(value, str(info.field_name).removesuffix("_id"))


class TurnOptions(Frozen):
    """Choices a caller may make for one turn; `None` means the profile's setting."""

    engine: str | None = None
    method: str | None = None
    scope: Scope = Scope()


class OutboxEntry(Frozen):
    """Work to be done after the turn, stored in the turn's own transaction; at most one of a kind per turn."""

    turn_id: str
    kind: str
    payload: dict[str, JsonValue]
    said_at: datetime | None = Field(None, description="The database's time at the turn's start; null: when stored.")

    def asked(self, at: datetime | None) -> "OutboxEntry":
        """The same work, for a turn that began at `at`."""
        return self.model_copy(update={"said_at": at})


class StageRecord(Frozen):
    """One stage of a turn: its time in milliseconds, and a note when there is more to say: when it degraded, why."""

    stage: str
    ms: float
    note: str | None = None
    degraded: bool = False


class Citation(Frozen):
    """`[number]` in the answer; `quote` is the cited sentence of an extractive answer, with offsets into the chunk."""

    number: int
    chunk_id: str
    source: str
    page: int | None = None
    quote: str | None = None
    start: int | None = None
    end: int | None = None


class Turn(Frozen):
    """A finished turn. `question` is null when the message itself was searched with, or nothing was."""

    key: TurnKey
    message: str
    question: str | None = None
    engine: str | None = None
    method: str | None = None
    fallback: FallbackReason | None = None
    answer: str
    answer_mode: str | None = None
    evidence: tuple[ScoredChunk, ...] = ()
    citations: tuple[Citation, ...] = ()
    memories: tuple[str, ...] = Field((), description="Ids of the facts the answer was made with.")
    stages: tuple[StageRecord, ...] = ()
    outcome: Outcome
    reason: str | None = Field(None, description="The refusal's reason, for outcomes refused and failed.")
    created_at: datetime = Field(default_factory=lambda: datetime.now(UTC))

    @property
    def lent(self) -> bool:
        """Whether the last turns were weighed into a search for the person's own words."""
        return self.question is None and any(LENT in (record.note or "") for record in self.stages)

    @property
    def doubtful(self) -> bool:
        """Whether the answer was given with the reservation that it may not be one."""
        judged = [record for record in self.stages if record.stage == "judge_context"]
        return self.outcome is Outcome.ANSWERED and bool(judged) and DOUBTFUL in (judged[-1].note or "")

    @property
    def searched_for(self) -> str | None:
        """The standalone question, when it differs from the user's words; else None."""
        return self.question
