"""Who wants to be remembered, and from when on: each user's switch, and marks of what was erased."""

import math
import time
from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta

from sqlalchemy import delete, func, or_, select
from sqlalchemy.dialects.postgresql import insert

from condensery.storage.database import Database
from condensery.storage.reading import reading
from condensery.storage.schema import memory_forgotten, memory_users, turns
from condensery.storage.schema import memory_forgotten_facts as forgotten_facts
from condensery.storage.text import clean_text

ALL = ""
"""Stands for every conversation in a mark; no conversation has an empty id."""


LONGEST_TURN = timedelta(days=1)
SECONDS_BETWEEN_DROPS = 3600


class MemoryUsers:
    """The users' own choices about memory. Every method raises what `Database.transaction` raises."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._next_drop = -math.inf

    async def enabled(self, user_id: str) -> bool:
        """Whether memory is on for this user; it is until they switch it off."""
        query = select(memory_users.c.enabled).where(memory_users.c.user_id == clean_text(user_id))
        async with reading(self._db) as connection:
            return (await connection.execute(query)).scalar_one_or_none() is not False

    async def switch(self, user_id: str, on: bool) -> None:
        """Switch memory on or off for this user; what is stored stays."""
        new = {"enabled": on, "changed_at": func.now()}
        statement = insert(memory_users).values(user_id=clean_text(user_id), **new)
        statement = statement.on_conflict_do_update(index_elements=[memory_users.c.user_id], set_=new)
        async with self._db.transaction() as connection:
            await connection.execute(statement)

    async def mark_forgotten(self, user_id: str, conversation_id: str | None = None) -> datetime:
        """Note that what was said until now, in one conversation or anywhere, is not to be stored any more.

        Returns that time, by the database's clock.
        """
        whose = {"user_id": clean_text(user_id), "conversation_id": clean_text(conversation_id or ALL)}
        statement = insert(memory_forgotten).values(**whose, at=func.clock_timestamp())
        columns = [memory_forgotten.c.user_id, memory_forgotten.c.conversation_id]
        later = {"at": func.greatest(memory_forgotten.c.at, statement.excluded.at)}
        statement = statement.on_conflict_do_update(index_elements=columns, set_=later)
        async with self._db.transaction() as connection:
            if conversation_id is None:
                await connection.execute(delete(forgotten_facts).where(forgotten_facts.c.user_id == whose["user_id"]))
            marked: datetime = (await connection.execute(statement.returning(memory_forgotten.c.at))).scalar_one()
        return marked

    async def mark_facts_forgotten(self, user_id: str, digests: AbstractSet[str]) -> None:
        """Note that facts with these digests, said until now, are not to be stored any more."""
        rows = [{"user_id": clean_text(user_id), "digest": each, "at": func.clock_timestamp()} for each in digests]
        if not rows:
            return
        statement = insert(forgotten_facts).values(rows)
        columns = [forgotten_facts.c.user_id, forgotten_facts.c.digest]
        statement = statement.on_conflict_do_update(index_elements=columns, set_={"at": statement.excluded.at})
        async with self._db.transaction() as connection:
            await connection.execute(statement)

    async def facts_forgotten_since(self, user_id: str, said_at: datetime) -> frozenset[str]:
        """The digests of facts that are not to be stored when they were said then."""
        marks = forgotten_facts.c
        query = select(marks.digest).where(marks.user_id == clean_text(user_id), marks.at >= said_at)
        async with reading(self._db) as connection:
            return frozenset((await connection.execute(query)).scalars())

    async def drop_marks(self) -> None:
        """Drop digests that nothing needs any more: no turn is stored, or can still be running, from before them.

        While one is, a model may repeat what it says when it puts a later question.

        Looks at most once an hour.
        """
        if self._next_drop > time.monotonic():
            return
        self._next_drop = time.monotonic() + SECONDS_BETWEEN_DROPS
        marks = forgotten_facts.c
        earlier = select(turns.c.id).where(turns.c.user_id == marks.user_id, turns.c.created_at <= marks.at)
        async with self._db.transaction() as connection:
            old = marks.at < func.now() - LONGEST_TURN
            await connection.execute(delete(forgotten_facts).where(old, ~earlier.exists()))

    async def forgotten_since(self, user_id: str, conversation_id: str, said_at: datetime) -> bool:
        """Whether what was said then has been marked as erased since."""
        marks = memory_forgotten.c
        where = or_(marks.conversation_id == ALL, marks.conversation_id == clean_text(conversation_id))
        query = select(
            select(marks.at).where(marks.user_id == clean_text(user_id), where, marks.at >= said_at).exists()
        )
        async with reading(self._db) as connection:
            return bool((await connection.execute(query)).scalar_one())
