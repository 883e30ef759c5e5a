"""What programs and people can do about questions for experts, and what is done about them by itself."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from condensery.errors import CondenseryError, abridged
from condensery.experts.paused import PausedRuns
from condensery.experts.replies import checked_name, checked_reply, reason_from
from condensery.experts.types import OPEN, ExpertRequest, NotOpen, RequestState, UnknownRequest
from condensery.memory.worker import MemoryWorker
from condensery.services import Services
from condensery.storage.experts import ExpertRequests
from condensery.workflows.expert_events import ConsultationStart, ExpertSettled

if TYPE_CHECKING:
    from condensery.experts.runs import OpenRuns

log = logging.getLogger(__name__)

AT_ONCE = 16
"""Runs that one process works on at the same time."""

BUSY_SECONDS = 10.0
"""So long a reply waits for another process that is at work on its run; after that the run hears of it later."""

DRAIN_SECONDS = 5.0
"""What is under way to an expert has this long to get there; the next process that opens takes up what did not."""

Requests = list[ExpertRequest]


class ExpertControl:
    """`app.experts`: what is open, replies, refusals, consent. Safe for concurrent use, also by several processes."""

    def __init__(self, services: Callable[[], Services], runs: PausedRuns) -> None:
        self._services = services
        self._runs = runs
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._working: set[asyncio.Task[bool]] = set()
        self._loop = MemoryWorker(self._settle_round)

    @property
    def runs(self) -> PausedRuns:
        """Where the runs are that wait."""
        return self._runs

    async def list(self) -> Requests:
        """What an expert may still reply to, the oldest first."""
        await self._requests.expire()
        return await self._requests.within(OPEN)

    async def has_open(self) -> bool:
        """Whether there is any, or one that the user has not been told about; False when the database fails."""
        try:
            return bool(await self._requests.within(OPEN) or await self._requests.due())
        except CondenseryError as error:
            log.warning("whether experts are asked something could not be looked up: %s", error)
            return False

    async def show(self, request_id: str) -> ExpertRequest:
        """One request, whatever became of it; raises `UnknownRequest`."""
        await self._requests.expire()
        if (request := await self._requests.get(request_id)) is None:
            raise UnknownRequest(f"there is no question {abridged(request_id)!r}; see `condensery experts list`")
        return request

    async def offered(self, conversation_id: str, *, user_id: str | None = None) -> ExpertRequest | None:
        """What the last turn of the conversation offers to send, if it does."""
        return await self._requests.offered_last(conversation_id, user_id)

    async def consent(self, request_id: str, *, given: bool = True) -> ExpertRequest:
        """Say yes or no for the user; raises `NotOpen` when this was said already. A yes sends the question."""
        hours = self._services().settings.experts.wait_hours
        moving = self._requests.ask(request_id, hours=hours) if given else self._requests.refuse(request_id)
        request = await self._moved(request_id, moving)
        await self.bring_along(request_id)
        return request

    async def answer(self, request_id: str, reply: str, *, expert: str | None = None) -> ExpertRequest:
        """Take an expert's reply; when this returns, the answer is in the conversation, or will be soon.

        Raises `UnknownRequest`, `NotOpen` for a second reply or one that comes too late, and `ConfigError` for a reply
        that is empty or too long.
        """
        most = self._services().settings.experts.reply_chars
        text, name = checked_reply(reply, most=most), checked_name(expert)
        return await self._settle(request_id, RequestState.ANSWERED, expert=name, reply=text)

    async def decline(self, request_id: str, *, reason: str = "", expert: str | None = None) -> ExpertRequest:
        """An expert will not answer, maybe with a reason that the user is told; raises as `answer` does."""
        name, why = checked_name(expert), reason_from(reason)
        return await self._settle(request_id, RequestState.DECLINED, expert=name, reply=why or None)

    async def bring_along(self, request_id: str) -> None:
        """Do now what there is to be done about a request; what fails is tried again by `settle_all`."""
        give_up_at = time.monotonic() + BUSY_SECONDS
        while not await self._safely(request_id) and time.monotonic() < give_up_at:  # noqa: ASYNC110
            await asyncio.sleep(0.1)  # another process is at work on it

    async def settle_all(self) -> int:
        """Do what there is to be done about every request; return how many there were."""
        await self._requests.expire()
        due = [*(request.id for request in await self._requests.due()), *await self._requests.leftovers()]
        await asyncio.gather(*map(self._safely, due))
        return len(due)

    def wake(self) -> None:
        """There may be something to be done: look after it in the background, now and every few seconds from now on."""
        self._loop.wake()

    async def close(self, *, seconds: float = DRAIN_SECONDS) -> None:
        """Let what is being done be finished, for at most `seconds`: what is not is done at the next start."""
        await self._loop.close(seconds=seconds)
        if self._working:
            await asyncio.wait(self._working, timeout=seconds)
        for task in self._working:
            task.cancel()
        await asyncio.gather(*self._working, return_exceptions=True)
        await self._runs.close()

    async def _settle_round(self) -> bool:
        await self.settle_all()
        return False  # what is left, if anything, waits for the next round

    async def _settle(self, request_id: str, state: RequestState, *, expert: str, reply: str | None) -> ExpertRequest:
        request = await self._moved(request_id, self._requests.settle(request_id, state, expert=expert, reply=reply))
        await self.bring_along(request_id)
        return request

    async def _moved(self, request_id: str, moving: Awaitable[ExpertRequest | None]) -> ExpertRequest:
        if (request := await moving) is None:
            raise _not_open(await self.show(request_id))
        return request

    async def _safely(self, request_id: str) -> bool:
        """Whether it was looked after; False while somebody else has it. Goes on when the caller is cancelled."""
        task = asyncio.create_task(self._held(request_id))
        self._working.add(task)
        task.add_done_callback(self._working.discard)
        return await asyncio.shield(task)

    async def _held(self, request_id: str) -> bool:
        """See `_safely`. What fails is logged and waits for the next round."""
        try:
            async with self._slots, self._runs.open() as runs, runs.locks.hold(request_id) as ours:
                if ours:
                    await self._look_after(request_id, runs)
                return ours
        except CondenseryError as error:
            log.warning("the question %s could not be looked after: %s", request_id, error)
        except Exception as error:
            log.error("the question %s could not be looked after (%s)", request_id, type(error).__name__)
            log.debug("the reason", exc_info=error)
        return True

    async def _look_after(self, request_id: str, runs: "OpenRuns") -> None:
        """Begin the run, or tell it that there is news; a run that has told the user leaves nothing but its turn."""
        request = await self._requests.get(request_id)
        if request is None or not (request.settled or request.state in OPEN):
            return
        if request.closed_at:
            await runs.forget(request_id)
            return
        await self._requests.count_run(request_id)
        if not await runs.waits(request_id):
            await runs.begin(request_id, _start_of(request))
        elif request.settled:
            await runs.wake(request_id, ExpertSettled(request_id=request_id))
        request = await self._requests.get(request_id)
        if request and request.closed_at:
            await runs.forget(request_id)

    @property
    def _requests(self) -> ExpertRequests:
        return self._services().expert_requests


def _start_of(request: ExpertRequest) -> ConsultationStart:
    return ConsultationStart(request_id=request.id, question=request.question, locale=request.locale)


def _not_open(request: ExpertRequest) -> NotOpen:
    when = f"{request.settled_at:%Y-%m-%d %H:%M} UTC" if request.settled_at else ""
    said = {
        RequestState.OFFERED: "the user has not consented to sending it yet",
        RequestState.REFUSED: "the user does not want it to be sent",
        RequestState.ASKED: "the user has consented already",
        RequestState.SENT: "the user has consented already",
        RequestState.ANSWERED: f"{request.expert} has answered it already, on {when}",
        RequestState.DECLINED: f"{request.expert} has declined it already, on {when}",
        RequestState.EXPIRED: f"no reply came in time, and it was closed on {when}; the user was told so",
        RequestState.FAILED: f"it could not be sent, and was closed on {when}; the user was told so",
    }
    return NotOpen(request.state, f"the question {request.id} is not open: {said[request.state]}")
