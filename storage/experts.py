"""Questions for experts, and what became of them: every change of state is one statement, so that one of two wins."""

from collections.abc import Collection
from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, and_, exists, func, or_, select, text, update
from sqlalchemy.dialects.postgresql import insert

from condensery.experts.types import OPEN, SETTLED, ExpertRequest, RequestState
from condensery.storage.database import Database
from condensery.storage.schema import expert_requests as table
from condensery.storage.schema import turns
from condensery.storage.text import clean_json, clean_text
from condensery.workflows.events import CondensedQuestion

RUNS_SCHEMA = "condensery_runs"
"""Where the store of llama-agents-server keeps the runs that wait."""

MOST_RUNS = 20
"""A question whose run has failed this often is left alone."""


class ExpertRequests:
    """Questions for experts in Postgres. Every method raises what `Database.transaction` raises."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def offer(self, request_id: str, question: CondensedQuestion, *, locale: str, channel: str) -> None:
        """Note that the user is asked whether `question` may be sent; once per turn."""
        values = {
            "id": request_id,
            **question.key.model_dump(),
            "question": question.model_copy(update={"probes": ()}).model_dump(mode="json"),
            "locale": locale,
            "channel": channel,
            "state": RequestState.OFFERED,
        }
        statement = insert(table).values({name: clean_json(value) for name, value in values.items()})
        async with self._db.transaction() as connection:
            await connection.execute(statement.on_conflict_do_nothing())

    async def offered_last(self, conversation_id: str, user_id: str | None) -> ExpertRequest | None:
        """What the last turn of a conversation offered to ask, while this user has said neither yes nor no."""
        theirs = [turns.c.conversation_id == clean_text(conversation_id)]
        last = select(turns.c.turn_id).where(*theirs).order_by(turns.c.id.desc()).limit(1).scalar_subquery()
        found = await self._found(
            table.c.turn_id == last,
            table.c.state == RequestState.OFFERED,
            table.c.user_id.is_not_distinct_from(None if user_id is None else clean_text(user_id)),
        )
        return found[0] if found else None

    async def get(self, request_id: str) -> ExpertRequest | None:
        """The request of that id."""
        found = await self._found(table.c.id == clean_text(request_id))
        return found[0] if found else None

    async def within(self, states: Collection[RequestState]) -> list[ExpertRequest]:
        """The requests in these states, the oldest first; without those whose conversation was deleted."""
        return await self._found(table.c.state.in_(states), exists().where(turns.c.turn_id == table.c.turn_id))

    async def ask(self, request_id: str, *, hours: float) -> ExpertRequest | None:
        """The user has consented: from now on an expert may reply, for `hours`. None when it was not offered."""
        times = {"asked_at": func.now(), "expires_at": func.now() + timedelta(hours=hours)}
        return await self._move(request_id, RequestState.ASKED, table.c.state == RequestState.OFFERED, **times)

    async def refuse(self, request_id: str) -> ExpertRequest | None:
        """The user has not consented; None when it was not offered."""
        times = {"settled_at": func.now(), "closed_at": func.now()}
        return await self._move(request_id, RequestState.REFUSED, table.c.state == RequestState.OFFERED, **times)

    async def sent(self, request_id: str) -> None:
        """The channel has taken it; nothing changes when a reply was quicker."""
        await self._move(request_id, RequestState.SENT, table.c.state == RequestState.ASKED)

    async def settle(
        self, request_id: str, state: RequestState, *, expert: str | None = None, reply: str | None = None
    ) -> ExpertRequest | None:
        """An expert has answered or declined in time; None when it is too late for that, for whatever reason."""
        intime = and_(table.c.state.in_(OPEN), table.c.expires_at > func.now())
        said = {name: None if value is None else clean_text(value) for name, value in
                (("expert", expert), ("reply", reply))}  # fmt: skip
        return await self._move(request_id, state, intime, settled_at=func.now(), **said)

    async def give_up(self, request_id: str) -> ExpertRequest | None:
        """It could not be sent; None when that does not count any more."""
        return await self._move(request_id, RequestState.FAILED, table.c.state.in_(OPEN), settled_at=func.now())

    async def expire(self) -> None:
        """Close whatever has waited too long."""
        overdue = and_(table.c.state.in_(OPEN), table.c.expires_at <= func.now())
        values = {"state": RequestState.EXPIRED, "settled_at": func.now()}
        async with self._db.transaction() as connection:
            await connection.execute(update(table).where(overdue).values(values))

    async def due(self) -> list[ExpertRequest]:
        """What there is something to be done about: not sent yet, or settled and the user does not know."""
        waiting = or_(table.c.state == RequestState.ASKED, table.c.state.in_(SETTLED))
        return await self._found(table.c.closed_at.is_(None), waiting, table.c.runs < MOST_RUNS)

    async def count_run(self, request_id: str) -> None:
        """A run for it begins."""
        async with self._db.transaction() as connection:
            await connection.execute(update(table).where(table.c.id == request_id).values(runs=table.c.runs + 1))

    async def close(self, request_id: str) -> None:
        """The user knows."""
        async with self._db.transaction() as connection:
            await connection.execute(update(table).where(table.c.id == request_id).values(closed_at=func.now()))

    async def forget_run(self, run_id: str) -> None:
        """Erase what the store of llama-agents-server keeps about a run."""
        async with self._db.transaction() as connection:
            for name in ("wf_ticks", "wf_events", "workflow_state", "wf_handlers"):
                statement = text(f"DELETE FROM {RUNS_SCHEMA}.{name} WHERE run_id = :run")  # noqa: S608  # our own names
                await connection.execute(statement, {"run": run_id})

    async def leftovers(self) -> list[str]:
        """Ids of requests whose user knows, and whose run was still not erased: its process ended in between."""
        handlers = f"{RUNS_SCHEMA}.wf_handlers"
        kept = table.c.id.in_(text(f"(SELECT handler_id FROM {handlers})"))  # noqa: S608  # our own names
        async with self._db.transaction() as connection:
            if (await connection.execute(select(func.to_regclass(handlers)))).scalar_one() is None:
                return []
            query = select(table.c.id).where(table.c.closed_at.is_not(None), kept)
            return list((await connection.execute(query)).scalars())

    async def _move(
        self, request_id: str, state: RequestState, condition: ColumnElement[bool], **values: Any
    ) -> ExpertRequest | None:
        statement = update(table).where(table.c.id == clean_text(request_id), condition)
        async with self._db.transaction() as connection:
            row = (await connection.execute(statement.values(state=state, **values).returning(table))).one_or_none()
        return ExpertRequest.model_validate(dict(row._mapping)) if row else None

    async def _found(self, *conditions: ColumnElement[bool]) -> list[ExpertRequest]:
        query = select(table).where(*conditions).order_by(table.c.offered_at, table.c.id)
        async with self._db.transaction() as connection:
            return [ExpertRequest.model_validate(dict(row._mapping)) for row in await connection.execute(query)]
