"""The settings that were changed at run time."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import delete, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from condensery.storage.database import Database
from condensery.storage.reading import reading
from condensery.storage.schema import settings, settings_state

if TYPE_CHECKING:
    from condensery.settings_runtime import Changes

GENERATION = select(settings_state.c.generation)


class Stored(NamedTuple):
    """The stored values by setting name, and the number of the change that led to them."""

    generation: int
    values: dict[str, Any]


class SettingsRepository:
    """Settings in Postgres, one row per setting. Every method raises what `Database.transaction` raises."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def generation(self) -> int:
        """A number that rises with every change; 0 in a new database."""
        async with reading(self._db) as connection:
            return int((await connection.execute(GENERATION)).scalar_one())

    async def load(self) -> Stored:
        """What is stored; the values may be newer than their number says, never older."""
        async with self._db.transaction() as connection:
            return await _stored(connection)

    async def change(self, decide: "Callable[[Mapping[str, Any]], Changes]") -> Stored:
        """Store what `decide` makes of what is stored; when it raises, nothing is.

        Writers take turns, in whichever process: each decides about what the one before has left.
        """
        async with self._db.transaction() as connection:
            await connection.execute(GENERATION.with_for_update())
            changes = decide((await _stored(connection)).values)
            await connection.execute(delete(settings).where(settings.c.name.in_(changes.unset)))
            if changes.values:
                await connection.execute(_upsert(changes.values))
            await connection.execute(update(settings_state).values(generation=settings_state.c.generation + 1))
            return await _stored(connection)


async def _stored(connection: AsyncConnection) -> Stored:
    generation = int((await connection.execute(GENERATION)).scalar_one())
    rows = await connection.execute(select(settings.c.name, settings.c.value).order_by(settings.c.name))
    return Stored(generation, {row.name: row.value for row in rows})


def _upsert(values: Mapping[str, Any]) -> Any:
    rows = [{"name": name, "value": value} for name, value in values.items()]
    statement = insert(settings).values(rows)
    new = {"value": statement.excluded.value, "changed_at": func.now()}
    return statement.on_conflict_do_update(index_elements=[settings.c.name], set_=new)
