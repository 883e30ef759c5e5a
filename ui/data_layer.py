"""What Chainlit calls its data layer: threads are listed and reopened from our own turns, which are all there is.

Chainlit's steps and elements are made anew from the turns, so nothing is stored twice, and what a person sees after a
reload is what the next answer's history holds.
"""

from collections.abc import Collection
from typing import Any

from chainlit.data.base import BaseDataLayer
from chainlit.element import Element, ElementDict
from chainlit.step import StepDict
from chainlit.types import Feedback, PageInfo, PaginatedResponse, Pagination, ThreadDict, ThreadFilter
from chainlit.user import PersistedUser, User

from condensery.storage.turns import TurnRepository
from condensery.ui.choices import known
from condensery.ui.running import Running
from condensery.ui.threads import Thread, ThreadRepository
from condensery.ui.transcript import Transcript
from condensery.workflows.titles import title_of_message
from condensery.workflows.turn import Turn

LOCAL_USER = "local"


class TurnsDataLayer(BaseDataLayer):
    """Chainlit's view of `threads` and `turns`. There is one user."""

    def __init__(
        self,
        threads: ThreadRepository,
        turns: TurnRepository,
        running: Running,
        transcript: Transcript,
        agents: Collection[str] = (),
    ) -> None:
        self._threads = threads
        self._turns = turns
        self._running = running
        self._transcript = transcript
        self._agents = agents

    async def get_user(self, identifier: str) -> PersistedUser | None:
        """The one user, whose id is their identifier."""
        if identifier != LOCAL_USER:
            return None
        return PersistedUser(id=LOCAL_USER, identifier=LOCAL_USER, createdAt="1970-01-01T00:00:00Z")

    async def create_user(self, user: User) -> PersistedUser | None:
        """The one user; nobody else can be created."""
        return await self.get_user(user.identifier)

    async def list_threads(self, pagination: Pagination, filters: ThreadFilter) -> PaginatedResponse[ThreadDict]:
        """A page of the user's threads, last used first."""
        page = await self._threads.list(
            filters.userId or LOCAL_USER,
            limit=pagination.first,
            after=pagination.cursor,
            search=filters.search or "",
        )
        ids = [thread.id for thread in page.threads]
        info = PageInfo(hasNextPage=page.more, startCursor=ids[0] if ids else None, endCursor=ids[-1] if ids else None)
        return PaginatedResponse(pageInfo=info, data=[_summary(thread) for thread in page.threads])

    async def get_thread(self, thread_id: str) -> ThreadDict | None:
        """A thread with everything that was said in it, and what is being answered right now."""
        thread = await self._threads.get(thread_id)
        if thread is None:
            return None
        turns, running = await self._turns_of(thread)
        shown = _summary(thread)
        shown["steps"] = [step for turn in turns for step in self._transcript.steps(turn)]
        shown["steps"] += self._transcript.unanswered(thread.id, running, thread.used_at)
        shown["elements"] = [element for turn in turns for element in self._transcript.elements_of(turn)]
        return shown

    async def _turns_of(self, thread: Thread) -> tuple[list[Turn], list[str]]:
        """The finished turns and the messages still being answered, read so that none is in both or in neither."""
        while True:
            running = self._running.messages(thread.id)
            turns = await self._turns.list(thread.id, user_id=thread.user_id)
            if running == self._running.messages(thread.id):
                return turns, running

    async def get_thread_author(self, thread_id: str) -> str:
        """Whose thread it is; empty when there is none."""
        thread = await self._threads.get(thread_id)
        return thread.user_id if thread else ""

    async def update_thread(
        self,
        thread_id: str,
        name: str | None = None,
        user_id: str | None = None,
        metadata: dict[str, Any] | None = None,
        tags: list[str] | None = None,
    ) -> None:
        """Start a thread (with a user), rename it (without), or keep what was chosen for it.

        Chainlit starts one with its first message for a name; it is listed under what that is about.
        """
        if user_id is not None:
            await self._threads.open(thread_id, user_id=user_id, name=title_of_message(name or ""))
        settings = (metadata or {}).get("chat_settings")
        chosen = known(settings, self._agents) if settings else None
        await self._threads.change(thread_id, name=name if user_id is None else None, settings=chosen)

    async def delete_thread(self, thread_id: str) -> None:
        """Stop what runs in a thread and remove it with its turns."""
        await self._running.stop(thread_id)
        await self._threads.delete(thread_id)

    async def build_debug_url(self) -> str:
        """There is none."""
        return ""

    async def close(self) -> None:
        """Nothing to do: the database belongs to the app."""

    # Steps and elements are made from turns, and there is neither feedback nor a list of favourites.

    async def create_step(self, step_dict: StepDict) -> None: ...

    async def update_step(self, step_dict: StepDict) -> None: ...

    async def delete_step(self, step_id: str) -> None: ...

    async def create_element(self, element: Element) -> None: ...

    async def delete_element(self, element_id: str, thread_id: str | None = None) -> None: ...

    async def get_element(self, thread_id: str, element_id: str) -> ElementDict | None:
        return None

    async def upsert_feedback(self, feedback: Feedback) -> str:
        return feedback.id or ""

    async def delete_feedback(self, feedback_id: str) -> bool:
        return False

    async def get_favorite_steps(self, user_id: str) -> list[StepDict]:
        return []


def _summary(thread: Thread) -> ThreadDict:
    return ThreadDict(
        id=thread.id,
        createdAt=thread.used_at.isoformat(),  # the page sorts by it, and the last used one belongs on top
        name=thread.name,
        userId=thread.user_id,
        userIdentifier=thread.user_id,
        tags=None,
        metadata={"chat_settings": thread.settings} if thread.settings else {},
        steps=[],
        elements=[],
    )
