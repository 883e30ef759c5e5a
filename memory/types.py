"""What long-term memory keeps and hands out: facts, whose they are, and the protocol of whoever keeps them."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, date, datetime
from typing import Annotated, Literal, Protocol

from pydantic import AfterValidator, Field

from condensery.errors import ConfigError
from condensery.memory.ids import short_enough
from condensery.retrieval.text import is_blank
from condensery.retrieval.types import Frozen
from condensery.storage.text import clean_text

LONGEST_FACT = 400
"""Characters; what is longer is no fact about a person, but a text."""


ScopeKind = Literal["user", "organization"]


def _named(value: str) -> str:
    """`value`; a blank id would make one memory of everybody's."""
    if not isinstance(value, str) or is_blank(value):
        raise ConfigError(f"memory is kept under an id that is not blank, got {value!r}; name the user or organization")
    if clean_text(value) != value:  # two ids that differ in these alone would become one
        raise ConfigError("memory is kept under an id without NUL characters and lone surrogates")
    return short_enough(value, "user or an organization")


class MemoryScope(Frozen):
    """Whose facts: those of one user, or those that one organization shares. Raises `ConfigError` for a blank id."""

    kind: ScopeKind
    id: Annotated[str, AfterValidator(_named)]

    def __repr__(self) -> str:
        """The kind alone: an id names a person, and traces are no place for people."""
        return f"MemoryScope({self.kind})"

    __str__ = __repr__


def user_scope(user_id: str | None) -> MemoryScope:
    """The facts of one user; raises `ConfigError` for a missing or blank id."""
    return MemoryScope(kind="user", id=_named(user_id or ""))


def organization_scope(organization_id: str | None) -> MemoryScope:
    """The facts an organization shares; raises `ConfigError` for a missing or blank id."""
    return MemoryScope(kind="organization", id=_named(organization_id or ""))


class NewFact(Frozen):
    """A fact to be kept: one short statement in the person's own words and person, that stands alone."""

    text: str = Field(min_length=1, max_length=LONGEST_FACT)
    slot: str | None = Field(None, description="What it answers when there is one answer at a time: home, job, diet …")
    turn_id: str | None = None
    conversation_id: str | None = None
    said_at: datetime = Field(default_factory=lambda: datetime.now(UTC))
    expires_on: date | None = Field(None, description="The last day it is recalled.")

    def __repr__(self) -> str:
        """Its size only: traces are no place for people's words."""
        return f"{type(self).__name__}({len(self.text)} characters)"

    __str__ = __repr__


class Fact(NewFact):
    """A fact that is kept. `score`, after a recall: how well it fits the question, 0 to 1."""

    id: str
    superseded_by: str | None = Field(None, description="The newer fact of the same slot, when there is one.")
    superseded_at: datetime | None = None
    score: float | None = None


class Remembered(Frozen):
    """One recalled fact as a prompt carries it: the user's own, or one that the organization shares."""

    id: str
    kind: ScopeKind
    text: str
    slot: str | None = None

    def __repr__(self) -> str:
        """Its size only: traces are no place for people's words."""
        return f"Remembered({self.kind}, {len(self.text)} characters)"

    __str__ = __repr__


class Memory(Protocol):
    """Keeps facts. No method ever reads or changes what another scope holds; each raises `ProviderError` on failure."""

    async def recall(self, question: str, *, scope: MemoryScope, limit: int, threshold: float) -> list[Fact]:
        """At most `limit` facts that hold today and bear on `question` by at least `threshold`, the best first."""
        ...

    async def remember(self, facts: Sequence[NewFact], *, scope: MemoryScope) -> list[Fact]:
        """Keep `facts` and return those that are new.

        What is known already, in these words or nearly so, is kept once; a fact of the same slot is superseded. Doing
        it again for the same turn changes nothing.
        """
        ...

    async def list(self, *, scope: MemoryScope, history: bool = False) -> list[Fact]:
        """Every fact of `scope`, the newest first; with `history` those superseded and expired, too."""
        ...

    async def forget(
        self, *, scope: MemoryScope, fact_id: str | None = None, conversation_id: str | None = None
    ) -> int:
        """Erase one fact, those of a conversation, or all, with their history; return how many. Unknown ids are 0."""
        ...

    def locked(self, scope: MemoryScope) -> AbstractAsyncContextManager[None]:
        """Keep every other writer of `scope`, in whichever process, waiting until the end of the block."""
        ...


class OpenMemory(Memory, Protocol):
    """A memory that this process has open: its scopes can be held, and it can be made ready."""

    @property
    def ready(self) -> bool:
        """Whether a recall has nothing to load any more."""
        ...

    async def erase_expired(self) -> None:
        """Erase every fact, of whichever scope, whose last day has passed; cheap when that was done today."""
        ...

    async def warm(self) -> None:
        """Load what the first recall would have to wait for, when there is anything to recall."""
        ...
