"""What a question for an expert is, what becomes of it, and the protocol of whatever carries it there."""

from datetime import datetime
from enum import StrEnum
from typing import Protocol

from condensery.errors import ConfigError
from condensery.retrieval.types import Frozen
from condensery.workflows.events import CondensedQuestion


class RequestState(StrEnum):
    """How far a question for an expert has come."""

    OFFERED = "offered"
    REFUSED = "refused"
    ASKED = "asked"
    SENT = "sent"
    ANSWERED = "answered"
    DECLINED = "declined"
    EXPIRED = "expired"
    FAILED = "failed"


OPEN = (RequestState.ASKED, RequestState.SENT)
"""The states in which an expert may still reply."""

SETTLED = (RequestState.ANSWERED, RequestState.DECLINED, RequestState.EXPIRED, RequestState.FAILED)
"""The states in which it is known what the user is told."""


class ExpertRequest(Frozen):
    """A question that was offered to be sent, from the turn `turn_id`; `reply` is an expert's words or reason."""

    id: str
    turn_id: str
    conversation_id: str
    user_id: str | None
    organization_id: str | None
    question: CondensedQuestion
    locale: str
    state: RequestState
    channel: str
    offered_at: datetime
    asked_at: datetime | None
    expires_at: datetime | None
    settled_at: datetime | None
    closed_at: datetime | None
    expert: str | None
    reply: str | None
    runs: int

    @property
    def settled(self) -> bool:
        """Whether it is known what the user is told."""
        return self.state in SETTLED

    @property
    def text(self) -> str:
        """The standalone question: all that an expert ever sees."""
        return self.question.question


class UnknownRequest(ConfigError):
    """No question of that id was ever asked."""


class NotOpen(ConfigError):
    """The question takes no reply, or no consent, any more; the message says why."""

    def __init__(self, state: RequestState, message: str) -> None:
        super().__init__(message)
        self.state = state


class ExpertChannel(Protocol):
    """Carries a question to experts; their reply comes back by `ExpertControl.answer`, at any time, from anywhere."""

    name: str

    async def send(self, question: CondensedQuestion, *, request_id: str, expires_at: datetime) -> None:
        """Hand the question over. The same id may come twice, after a crash. Raises `ProviderError`."""
