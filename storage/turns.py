"""Conversations as they are kept: every finished turn, and what is to be done about it later."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, and_, case, func, select, true
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from condensery.errors import RefusalReason
from condensery.storage.database import Database
from condensery.storage.reading import reading
from condensery.storage.schema import outbox, turns
from condensery.storage.text import clean_json, clean_text
from condensery.workflows.turn import Exchange, OutboxEntry, Outcome, Turn, TurnKey

FINISHED = (
    Outcome.ANSWERED,
    Outcome.SMALL_TALK,
    Outcome.META,
    Outcome.REFUSED,
    Outcome.ASKS_CONSENT,
    Outcome.ASKS_EXPERT,
)

REMEMBERED = (*FINISHED, Outcome.STOPPED)

LONG_MESSAGE = 4000
"""Characters; of a longer message, history carries the question that was found in it, so that a paste is not resent."""


class TurnRepository:
    """Turns in Postgres. Where a method takes `user_id` and one is given, other users' turns do not exist for it."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def save(self, turn: Turn, outbox: OutboxEntry | None = None) -> None:
        """Store `turn` and `outbox` in one transaction; saving a turn again replaces it in its place.

        A turn that was broken off (stopped, failed, out of time) never replaces a finished one: nothing is stored.

        Raises ValueError when the id is taken by another conversation or user, or `outbox` is for another turn.
        """
        if outbox is not None and outbox.turn_id != turn.key.turn_id:
            raise ValueError(f"the outbox entry is for turn {outbox.turn_id!r}, not for {turn.key.turn_id!r}")
        async with self._db.transaction() as connection:
            if await _put_turn(connection, turn) and outbox is not None:
                await _put_outbox(connection, outbox)

    async def now(self) -> datetime:
        """The time of the database's clock, which is the same for every process."""
        async with reading(self._db) as connection:
            return (await connection.execute(select(func.clock_timestamp()))).scalar_one()  # type: ignore[no-any-return]

    async def history(
        self, conversation_id: str, *, max_turns: int, max_chars: int, user_id: str | None = None
    ) -> list[Exchange]:
        """The latest exchanges, oldest first: at most `max_turns`, and together at most `max_chars` characters."""
        query = _history_query(_visible(conversation_id, user_id), max_turns, max_chars)
        async with reading(self._db) as connection:
            rows = await connection.execute(query)
            return [Exchange.model_validate(dict(row._mapping)) for row in rows]

    async def get(self, turn_id: str, *, user_id: str | None = None) -> Turn | None:
        """The turn of that id, or None."""
        query = select(turns).where(turns.c.turn_id == clean_text(turn_id), *_owned_by(user_id))
        async with self._db.transaction() as connection:
            row = (await connection.execute(query)).one_or_none()
        return _turn(row) if row else None

    async def list(self, conversation_id: str, *, user_id: str | None = None) -> list[Turn]:
        """Every turn of a conversation, oldest first, with its evidence."""
        query = select(turns).where(*_visible(conversation_id, user_id)).order_by(turns.c.id)
        async with self._db.transaction() as connection:
            return [_turn(row) for row in await connection.execute(query)]


def _owned_by(user_id: str | None) -> list[ColumnElement[bool]]:
    return [] if user_id is None else [turns.c.user_id == clean_text(user_id)]


def _visible(conversation_id: str, user_id: str | None) -> list[ColumnElement[bool]]:
    return [turns.c.conversation_id == clean_text(conversation_id), *_owned_by(user_id)]


def _history_query(visible: list[ColumnElement[bool]], max_turns: int, max_chars: int) -> Select[Any]:
    """Newest turns first up to `max_turns`, then as many of them as fit into `max_chars`, then oldest first."""
    pasted = and_(func.length(turns.c.message) > LONG_MESSAGE, turns.c.question.is_not(None))
    said = case((pasted, turns.c.question), else_=turns.c.message).label("message")
    short = func.length(turns.c.message) <= LONG_MESSAGE
    evidenced = and_(turns.c.outcome.in_((Outcome.ANSWERED, Outcome.STOPPED)), short).label("evidenced")
    quoted = turns.c.answer_mode.is_not_distinct_from("extractive").label("quoted")
    recent = (
        select(turns.c.id, said, turns.c.answer, evidenced, quoted, pasted.label("shortened"))
        .where(*visible, turns.c.outcome.in_(REMEMBERED), turns.c.answer.regexp_match(r"\S"))
        .order_by(turns.c.id.desc())
        .limit(max_turns)
        .subquery()
    )
    chars = func.length(recent.c.message) + func.length(recent.c.answer)
    so_far = func.sum(chars).over(order_by=recent.c.id.desc(), rows=(None, 0)).label("so_far")
    sized = select(recent, so_far).subquery()
    exchange = select(sized.c.message, sized.c.answer, sized.c.evidenced, sized.c.quoted, sized.c.shortened)
    return exchange.where(sized.c.so_far <= max_chars).order_by(sized.c.id)


async def _put_turn(connection: AsyncConnection, turn: Turn) -> bool:
    """Whether the turn was stored: False when a finished one stays in its place."""
    values = _values(turn)
    places = [turns.c[name].is_not_distinct_from(values[name]) for name in ("conversation_id", "user_id")]
    replaceable = turns.c.outcome.not_in(FINISHED) if _broken_off(turn) else true()
    statement = insert(turns).values(values)
    statement = statement.on_conflict_do_update(
        index_elements=[turns.c.turn_id], set_=values, where=and_(*places, replaceable)
    )
    if (await connection.execute(statement.returning(turns.c.id))).one_or_none() is not None:
        return True
    ours = select(turns.c.id).where(turns.c.turn_id == values["turn_id"], *places)
    if (await connection.execute(ours)).one_or_none() is None:
        raise ValueError(f"turn id {turn.key.turn_id!r} is taken by another conversation; give every turn its own id")
    return False


def _broken_off(turn: Turn) -> bool:
    timed_out = turn.outcome is Outcome.REFUSED and turn.reason == RefusalReason.TIMED_OUT
    return timed_out or turn.outcome in (Outcome.STOPPED, Outcome.FAILED)


async def _put_outbox(connection: AsyncConnection, entry: OutboxEntry) -> None:
    payload = clean_json(entry.payload)
    said_at = entry.said_at or func.now()
    statement = insert(outbox).values(
        turn_id=clean_text(entry.turn_id), kind=clean_text(entry.kind), payload=payload, said_at=said_at
    )
    await connection.execute(
        statement.on_conflict_do_update(constraint="outbox_once_per_turn", set_={"payload": payload})
    )


def _values(turn: Turn) -> dict[str, Any]:
    """The columns of a turn: its key flattened, nested parts as JSON, everything clean for Postgres."""
    record = turn.model_dump(mode="json", exclude={"created_at"})
    columns = {name: clean_json(value) for name, value in (record.pop("key") | record).items()}
    created = turn.created_at
    return columns | {"created_at": created if created.tzinfo else created.replace(tzinfo=UTC)}


def _turn(row: Row[Any]) -> Turn:
    record = dict(row._mapping)
    key = TurnKey.model_validate({name: record[name] for name in TurnKey.model_fields})
    return Turn.model_validate({"key": key} | {name: record[name] for name in Turn.model_fields if name != "key"})
