"""Facts as mem0 keeps them: whose they are, and the payload beside a vector."""

import hashlib
import json
import uuid
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any

from condensery.memory.types import Fact, MemoryScope, NewFact
from condensery.storage.text import clean_text

CURRENT = "current"
SUPERSEDED = "superseded"
FOREVER = date.max.toordinal()

_OWNER_COLUMN = {"user": "user_id", "organization": "agent_id"}


def owner_of(scope: MemoryScope) -> tuple[str, str]:
    """The field and the value by which the rows of `scope` are told from all others.

    A digest: mem0 trims ids, refuses some, and takes "*" for everybody; this is none of these, and no two are equal.
    """
    digest = hashlib.sha256(scope.id.encode("utf-8", "surrogatepass")).hexdigest()
    return _OWNER_COLUMN[scope.kind], f"{scope.kind}-{digest}"


def key_of(fact: NewFact, scope: MemoryScope) -> str:
    """What must not be stored twice: this text from this turn. Without a turn, every telling is one of its own."""
    turn = fact.turn_id if fact.turn_id is not None else uuid.uuid4().hex
    whole = json.dumps([*owner_of(scope), turn, fact.text])
    return hashlib.sha256(whole.encode()).hexdigest()


def payload_of(fact: NewFact, scope: MemoryScope) -> dict[str, Any]:
    """What mem0 keeps beside the text of a fact that holds."""
    fields = {
        "key": key_of(fact, scope),
        "state": CURRENT,
        "said_at": fact.said_at.astimezone(UTC).isoformat(),
        "until": (fact.expires_on or date.max).toordinal(),
        "slot": fact.slot and clean_text(fact.slot),
        "turn_id": fact.turn_id and clean_text(fact.turn_id),
        "conversation_id": fact.conversation_id and clean_text(fact.conversation_id),
    }
    return {name: value for name, value in fields.items() if value is not None}


def superseding(by: str, at: datetime) -> dict[str, str]:
    """What is added to the payload of a fact that a newer one took the place of."""
    return {"state": SUPERSEDED, "superseded_by": by, "superseded_at": at.astimezone(UTC).isoformat()}


def holding(scope: MemoryScope, today: date) -> dict[str, Any]:
    """mem0's filter for the facts of `scope` that hold on `today`."""
    field, owner = owner_of(scope)
    return {field: owner, "state": CURRENT, "until": {"gte": today.toordinal()}}


def holds(payload: Mapping[str, Any], today: date) -> bool:
    """Whether a fact is neither superseded nor expired."""
    return payload.get("state") == CURRENT and payload.get("until", FOREVER) >= today.toordinal()


def fact_of(id: object, payload: Mapping[str, Any], score: float | None = None) -> Fact:
    """The fact in a row."""
    until = payload.get("until", FOREVER)
    return Fact(
        id=str(id),
        text=payload["data"],
        slot=payload.get("slot"),
        turn_id=payload.get("turn_id"),
        conversation_id=payload.get("conversation_id"),
        said_at=datetime.fromisoformat(payload["said_at"]),
        expires_on=None if until == FOREVER else date.fromordinal(until),
        superseded_by=payload.get("superseded_by"),
        superseded_at=payload.get("superseded_at"),
        score=None if score is None else min(max(score, 0.0), 1.0),
    )
