"""The conversations of the chat app: what they are listed under, and their settings. Their content is their turns."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, delete, exists, func, select, tuple_, update
from sqlalchemy.dialects.postgresql import insert

from condensery.storage.database import Database
from condensery.storage.reading import reading
from condensery.storage.schema import threads, turns
from condensery.storage.text import clean_json, clean_text

NAME_CHARS = 80


@dataclass(frozen=True)
class Thread:
    """One conversation of one user; `settings` are the choices made in its settings panel."""

    id: str
    user_id: str
    name: str
    settings: dict[str, str]
    used_at: datetime


@dataclass(frozen=True)
class Page:
    """A part of a list, and whether more follows."""

    threads: list[Thread]
    more: bool


class ThreadRepository:
    """Threads in Postgres, beside the turns they are made of."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def open(self, thread_id: str, *, user_id: str, name: str) -> None:
        """Start a thread, or move it to the top of the list when it is there; its name is then kept."""
        statement = insert(threads).values(id=clean_text(thread_id), user_id=clean_text(user_id), name=short(name))
        again = statement.on_conflict_do_update(index_elements=[threads.c.id], set_={"used_at": func.now()})
        async with self._db.transaction() as connection:
            await connection.execute(again)

    async def change(self, thread_id: str, *, name: str | None = None, settings: dict[str, str] | None = None) -> None:
        """Rename a thread or keep its settings; a thread that does not exist stays that way."""
        values: dict[str, Any] = {}
        if name is not None:
            values["name"] = short(name)
        if settings is not None:
            values["settings"] = clean_json({**settings})
        if values:
            async with self._db.transaction() as connection:
                await connection.execute(update(threads).where(threads.c.id == clean_text(thread_id)).values(values))

    async def rename(self, thread_id: str, old: str, name: str) -> bool:
        """Rename a thread that is still called `old`: whoever renamed it meanwhile keeps their name."""
        same = (threads.c.id == clean_text(thread_id)) & (threads.c.name == short(old))
        async with self._db.transaction() as connection:
            return bool((await connection.execute(update(threads).where(same).values(name=short(name)))).rowcount)

    async def get(self, thread_id: str) -> Thread | None:
        """The thread of that id, or None."""
        async with reading(self._db) as connection:
            found = await connection.execute(select(threads).where(threads.c.id == clean_text(thread_id)))
            row = found.one_or_none()
        return _thread(row) if row else None

    async def list(self, user_id: str, *, limit: int, after: str | None = None, search: str = "") -> Page:
        """A user's threads, last used first, from the one behind `after` on; `search` is looked for in all texts."""
        wanted = [threads.c.user_id == clean_text(user_id), *_behind(after), *_mentioning(search)]
        order = (threads.c.used_at.desc(), threads.c.id.desc())
        async with reading(self._db) as connection:
            rows = (await connection.execute(select(threads).where(*wanted).order_by(*order).limit(limit + 1))).all()
        return Page([_thread(row) for row in rows[:limit]], more=len(rows) > limit)

    async def delete(self, thread_id: str) -> None:
        """Remove a thread and its turns, in one transaction."""
        async with self._db.transaction() as connection:
            await connection.execute(delete(turns).where(turns.c.conversation_id == clean_text(thread_id)))
            await connection.execute(delete(threads).where(threads.c.id == clean_text(thread_id)))


def short(name: str) -> str:
    """`name` on one line of at most `NAME_CHARS` characters."""
    line = " ".join(clean_text(name).split())
    return line if len(line) <= NAME_CHARS else line[: NAME_CHARS - 1].rstrip() + "…"


def _behind(thread_id: str | None) -> list[ColumnElement[bool]]:
    if thread_id is None:
        return []
    last = select(threads.c.used_at, threads.c.id).where(threads.c.id == clean_text(thread_id))
    return [tuple_(threads.c.used_at, threads.c.id) < last.scalar_subquery()]


def _mentioning(search: str) -> list[ColumnElement[bool]]:
    words = clean_text(search).strip()
    if not words:
        return []
    said = turns.c.message.icontains(words, autoescape=True) | turns.c.answer.icontains(words, autoescape=True)
    in_turns = exists().where(turns.c.conversation_id == threads.c.id, said)
    return [threads.c.name.icontains(words, autoescape=True) | in_turns]


def _thread(row: Row[Any]) -> Thread:
    return Thread(row.id, row.user_id, row.name, row.settings, row.used_at)
