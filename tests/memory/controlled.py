"""What tests of control share: facts of users, turns that wait or are parked."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from condensery.memory.control import MemoryControl
from condensery.memory.types import Fact, Memory, NewFact, user_scope
from condensery.settings import Memory as MemorySettings
from condensery.storage.database import Database
from condensery.storage.memory import MemoryUsers
from condensery.storage.outbox import OutboxRepository, Payload
from condensery.storage.proposals import ProposalRepository
from condensery.storage.turns import TurnRepository
from condensery.workflows.turn import OutboxEntry, Outcome, Turn, TurnKey

SAID = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
CLOSES = "The office in Bergen closes at four."
BLANK = ("", "  ", "\u200b", None)


def controlling(memory: Memory, database: Database) -> MemoryControl:
    return MemoryControl(
        memory,
        users=MemoryUsers(database),
        outbox=OutboxRepository(database),
        proposals=ProposalRepository(database),
        settings=MemorySettings(approvers="boss, chief"),
    )


async def keep(memory: Memory, user: str, *texts: str, conversation: str = "c", **fields: Any) -> list[Fact]:
    facts = []
    for number, text in enumerate(texts):
        given = {"turn_id": f"t {text}", "conversation_id": conversation, "said_at": SAID + timedelta(hours=number)}
        facts += await memory.remember(
            [NewFact.model_validate(given | {"text": text} | fields)], scope=user_scope(user)
        )
    return facts


async def say(database: Database, turn_id: str, *, user: str = "ada", conversation: str = "c", **more: Any) -> None:
    key = TurnKey(turn_id=turn_id, conversation_id=conversation, user_id=user)
    turn = Turn(key=key, message="raw", answer="a", outcome=Outcome.ANSWERED)
    payload: Payload = {"question": f"question {turn_id}", "answer": "a"} | more
    entry = OutboxEntry(turn_id=turn_id, kind="memory", payload=payload, said_at=SAID)
    await TurnRepository(database).save(turn, entry)


async def park(database: Database, turn_id: str, *, user: str = "ada") -> None:
    await say(database, turn_id, user=user)
    async with OutboxRepository(database).take() as taken:
        assert taken
        await taken.failed("the model is out of reach", attempts=1, wait_seconds=1)


def texts(facts: Sequence[Fact]) -> list[str]:
    return [fact.text for fact in facts]
