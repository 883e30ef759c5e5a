"""The runs that wait for an expert, in the store of llama-agents-server on our database."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

import httpx
from llama_agents.client import WorkflowClient
from llama_agents.server import HandlerQuery, PersistentHandler, WorkflowServer
from llama_agents.server._store.postgres_workflow_store import PostgresWorkflowStore
from llama_index.core.workflow import Event, StartEvent

from condensery.experts.kept import KeptWorkflow
from condensery.experts.locks import RunLocks
from condensery.storage.database import Database
from condensery.storage.experts import RUNS_SCHEMA, ExpertRequests
from condensery.storage.reading import reading
from condensery.storage.urls import as_dsn

CONSULTATION = "expert_consultation"
"""The name under which the runs are stored: those of today must be found by the versions of tomorrow."""

IDLE_SECONDS = 0.2
"""A run that waits is let go of after this."""

END_SECONDS = 2.0
"""What a stopping server has cancelled has this long to end."""

WORK_SECONDS = 1800
"""A run that is at work for longer than this is given up; it begins anew."""

CONNECTIONS = 4


class RunStore(PostgresWorkflowStore):
    """The store, which also says when a run rests: when it begins to wait, or has ended."""

    def __init__(self, dsn: str) -> None:
        super().__init__(dsn=dsn, schema=RUNS_SCHEMA, pool_min_size=0, pool_max_size=CONNECTIONS)
        self.rests: dict[str, asyncio.Event] = {}
        self._closed = False

    async def close(self) -> None:
        """Close; what the server still wants to know then, nobody asks for any more."""
        self._closed = True
        await super().close()

    async def query(self, query: HandlerQuery) -> list[PersistentHandler]:
        """As the store's own, but for the runs that a starting server would go on with.

        Another process may be at work on them; `OpenRuns.begin` takes up those that nobody holds.
        """
        return [] if self._closed or query.is_idle is False else await super().query(query)

    async def update(self, handler: PersistentHandler) -> None:
        """Store what a run has come to."""
        await super().update(handler)
        if (handler.idle_since or handler.status != "running") and (rest := self.rests.get(handler.handler_id)):
            rest.set()


class OpenRuns:
    """The server at work. A run has the id of the request that it is for; whoever touches it holds its lock."""

    def __init__(self, store: RunStore, client: WorkflowClient, locks: RunLocks, requests: ExpertRequests) -> None:
        self._store = store
        self._client = client
        self._requests = requests
        self.locks = locks

    async def waits(self, request_id: str) -> bool:
        """Whether the run is there and waits; one that is not at rest was broken off, since its lock is ours."""
        handler = await self._handler(request_id)
        return handler is not None and handler.status == "running" and handler.idle_since is not None

    async def begin(self, request_id: str, start: StartEvent) -> None:
        """Start the run, anew when it was broken off; return when it waits or has ended."""
        await self.forget(request_id)
        act = partial(self._client.run_workflow_nowait, CONSULTATION, handler_id=request_id, start_event=start)
        await self._until_rest(request_id, act)

    async def wake(self, request_id: str, event: Event) -> None:
        """Hand `event` to a run that waits, which goes on from its stored state; return when it has ended."""
        await self._until_rest(request_id, partial(self._client.send_event, request_id, event))

    async def forget(self, request_id: str) -> None:
        """Erase whatever the store has of the run."""
        if (handler := await self._handler(request_id)) and handler.run_id:
            await self._requests.forget_run(handler.run_id)

    async def _handler(self, request_id: str) -> PersistentHandler | None:
        found = await self._store.query(HandlerQuery(handler_id_in=[request_id]))
        return found[0] if found else None

    async def _until_rest(self, request_id: str, act: Callable[[], Awaitable[object]]) -> None:
        rest = self._store.rests[request_id] = asyncio.Event()
        try:
            async with asyncio.timeout(WORK_SECONDS):
                await act()
                await rest.wait()
        finally:
            self._store.rests.pop(request_id, None)


@asynccontextmanager
async def served(db: Database, workflow: KeptWorkflow) -> AsyncIterator[OpenRuns]:
    """A server for the runs of `workflow`. It is called in process; nothing listens anywhere."""
    store = RunStore(as_dsn(db.url))
    server = WorkflowServer(workflow_store=store, idle_timeout=IDLE_SECONDS)
    server.add_workflow(CONSULTATION, workflow)
    async with AsyncExitStack() as stack:
        locks = RunLocks(await stack.enter_async_context(reading(db)))
        stack.push_async_callback(store.close)
        stack.push_async_callback(workflow.ended, seconds=END_SECONDS)
        await store.start()
        await stack.enter_async_context(server.contextmanager())
        transport = httpx.ASGITransport(app=server.app)
        http = await stack.enter_async_context(httpx.AsyncClient(transport=transport, base_url="http://runs"))
        yield OpenRuns(store, WorkflowClient(httpx_client=http), locks, ExpertRequests(db))
