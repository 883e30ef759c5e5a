"""The table that mem0 keeps facts in: made by us, and asked directly for what mem0 cannot answer.

Rows are told apart by an owner: a field of the payload and its value (`user_id`, `agent_id`).
"""

import uuid
from collections.abc import Sequence
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, cast, column, delete, func, literal_column, select, table, text
from sqlalchemy.dialects.postgresql import JSONB, UUID, insert
from sqlalchemy.ext.asyncio import AsyncConnection

from condensery.errors import ConfigError
from condensery.storage.database import Database
from condensery.storage.reading import reading
from condensery.storage.schema import memory_state

TABLE = "memories"
ADVISORY_LOCK = 0x6D656D30  # "mem0"; whoever makes the table waits for it

Owner = tuple[str, str]
Stored = tuple[str, dict[str, Any]]
"""The id of a fact, and the payload that mem0 keeps with its vector."""

memories = table(TABLE, column("id", UUID), column("payload", JSONB))

INDEXED_DIMENSIONS = 2000
"""pgvector's HNSW takes no longer vectors; those are compared one by one, as those of people with few facts are."""

# A row stays in one piece (pgvector would move the vector elsewhere), which makes reading many of them much faster.
# The statistics tell Postgres that hardly any fact is superseded: else it never takes the vector index.
_CREATE = (
    f"CREATE TABLE IF NOT EXISTS {TABLE} (id uuid PRIMARY KEY, vector vector({{dimension}}) NOT NULL, "
    "payload jsonb NOT NULL) WITH (toast_tuple_target = 8160)",
    f"ALTER TABLE {TABLE} ALTER COLUMN vector SET STORAGE MAIN",
    f"CREATE INDEX IF NOT EXISTS {TABLE}_by_user ON {TABLE} ((payload->>'user_id'))",
    f"CREATE INDEX IF NOT EXISTS {TABLE}_by_organization ON {TABLE} ((payload->>'agent_id'))",
    f"CREATE STATISTICS IF NOT EXISTS {TABLE}_states ON (payload->>'state') FROM {TABLE}",
    f"CREATE UNIQUE INDEX IF NOT EXISTS {TABLE}_once ON {TABLE} ((payload->>'key'))",
)
_CREATE_HNSW = f"CREATE INDEX IF NOT EXISTS {TABLE}_nearest ON {TABLE} USING hnsw (vector vector_cosine_ops)"


class MemoryTable:
    """The facts of everybody, embedded by `model` with `dimension` numbers each."""

    def __init__(self, db: Database, *, model: str, dimension: int) -> None:
        self.db = db
        self.model = model
        self.dimension = dimension

    async def open(self) -> None:
        """Make the table when there is none. Raises `ConfigError` when it holds facts of another embedding model."""
        async with self.db.transaction() as connection:
            await connection.execute(select(func.pg_advisory_xact_lock(ADVISORY_LOCK)))
            state = (await connection.execute(_state())).one_or_none()
            if state is not None and tuple(state) != (self.model, self.dimension):
                await self._check_empty(connection, *state)
                await connection.execute(text(f"DROP TABLE IF EXISTS {TABLE}"))
            await self.create(connection)

    async def create(self, connection: AsyncConnection) -> None:
        """Make the table and its indexes where they are missing, and note whose vectors it holds."""
        if (await connection.execute(select(func.to_regclass(f"{TABLE}_once")))).scalar_one() is None:
            for statement in (*_CREATE, *([_CREATE_HNSW] if self.dimension <= INDEXED_DIMENSIONS else [])):
                await connection.execute(text(statement.format(dimension=self.dimension)))
        new = {"embedding_model": self.model, "dimension": self.dimension}
        note = insert(memory_state).values(new).on_conflict_do_update(index_elements=["only_row"], set_=new)
        await connection.execute(note)

    async def exists(self) -> bool:
        """Whether anybody has opened the table yet."""
        async with reading(self.db) as connection:
            return (await connection.execute(select(func.to_regclass(f"{TABLE}_once")))).scalar_one() is not None

    async def has_rows(self, owner: Owner) -> bool:
        """Whether there is a fact of `owner`. Raises `ConfigError` when another program embedded all anew since."""
        query = select(select(memories.c.id).where(_owned_by(owner)).exists(), *_state().selected_columns)
        async with reading(self.db) as connection:
            found = (await connection.execute(query)).one_or_none()
        if found is None or tuple(found[1:]) != (self.model, self.dimension):
            raise changed_meanwhile()
        return bool(found[0])

    async def is_empty(self) -> bool:
        """Whether nobody has a fact."""
        async with reading(self.db) as connection:
            return not (await connection.execute(select(select(memories.c.id).exists()))).scalar_one()

    async def rows(self, owner: Owner) -> list[Stored]:
        """Every fact of `owner`, in no order."""
        query = select(memories.c.id, memories.c.payload).where(_owned_by(owner))
        async with reading(self.db) as connection:
            return [(str(row.id), row.payload) for row in await connection.execute(query)]

    async def remove(
        self, connection: AsyncConnection, owner: Owner, *, id: str | None = None, conversation_id: str | None = None
    ) -> list[str]:
        """Within the caller's transaction, delete the facts of `owner` that fit all that is given; return their ids."""
        which = [_owned_by(owner)]
        if id is not None:
            if (known := _uuid(id)) is None:
                return []
            which.append(memories.c.id == known)
        if conversation_id is not None:
            which.append(_field("conversation_id") == conversation_id)
        removed = await connection.execute(delete(memories).where(*which).returning(memories.c.id))
        return [str(row.id) for row in removed]

    async def remove_until(self, day: int) -> list[str]:
        """Delete the facts of everybody whose field `until` is before `day`; return their ids."""
        over = delete(memories).where(cast(_field("until"), BigInteger) < day).returning(memories.c.id)
        async with self.db.transaction() as connection:
            return [str(row.id) for row in await connection.execute(over)]

    async def missing(self, ids: Sequence[str]) -> list[str]:
        """Those of `ids` that no fact has."""
        wanted = {known: each for each in ids if (known := _uuid(each))}
        query = select(memories.c.id).where(memories.c.id == func.any(list(wanted)))
        async with reading(self.db) as connection:
            there = set((await connection.execute(query)).scalars()) if wanted else set()
        return [each for each in ids if (known := _uuid(each)) is None or known not in there]

    async def _check_empty(self, connection: AsyncConnection, model: str, dimension: int) -> None:
        exists = (await connection.execute(select(func.to_regclass(TABLE)))).scalar_one() is not None
        if exists and (await connection.execute(select(select(memories.c.id).exists()))).scalar_one():
            raise ConfigError(
                f"what is remembered was embedded with '{model}' ({dimension} dimensions), but embeddings.model is "
                f"'{self.model}' ({self.dimension} dimensions); set embeddings.model back, or embed it anew with "
                "`condensery memory reembed`"
            )


def changed_meanwhile() -> ConfigError:
    """What a program is told whose embedding model is no longer the one that the facts are embedded with."""
    return ConfigError(
        "what is remembered was embedded anew with another model by another program; start this one anew"
    )


def _state() -> Any:
    return select(memory_state.c.embedding_model, memory_state.c.dimension)


def _field(name: str) -> ColumnElement[str]:
    """A field of the payload, by a name that is written into the statement: only so are the indexes used."""
    return memories.c.payload.op("->>")(literal_column(f"'{name}'"))


def _owned_by(owner: Owner) -> ColumnElement[bool]:
    field, value = owner
    return _field(field) == value


def _uuid(id: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(id)
    except ValueError:
        return None
