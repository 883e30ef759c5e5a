"""What is measured: a way of remembering, and a turn as it comes to it."""

import time
from dataclasses import dataclass
from typing import Protocol

from condensery.evals.memory_scoring import Kept, Played
from condensery.workflows.turn import Exchange, TurnKey


@dataclass(frozen=True)
class Moment:
    """A turn as it comes in: who, where, with what before it in the same session, and the reply that follows."""

    user: str
    session: int
    number: int
    message: str
    history: tuple[Exchange, ...]
    answer: str

    @property
    def key(self) -> TurnKey:
        conversation = f"{self.user}/{self.session}"
        return TurnKey(turn_id=f"{self.user}#{self.number}", conversation_id=conversation, user_id=self.user)


class System(Protocol):
    """A way of remembering."""

    name: str
    extraction: str

    async def take_in(self, moment: Moment, played: Played) -> dict[str, float]:
        """Remember what the turn says; returns milliseconds by stage. May raise whatever its parts do."""
        ...

    async def recall(self, user: str, ask: str, language: str) -> list[str]:
        """At most `DEPTH` facts, the best first."""
        ...

    async def kept(self, user: str) -> tuple[list[Kept], list[Kept]]:
        """The user's facts that hold, and all that ever did, oldest first."""
        ...


class Clock:
    """Milliseconds by stage, since the last lap."""

    def __init__(self) -> None:
        self.ms: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        """End a stage."""
        now = time.perf_counter()
        self.ms[name] = round((now - self._last) * 1000, 2)
        self._last = now

    def only(self, name: str) -> dict[str, float]:
        """End a stage and give it alone."""
        self.lap(name)
        return {name: self.ms[name]}
