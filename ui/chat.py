"""The Chainlit app: what happens when a chat starts, is reopened, asks, stops and changes its settings."""

import asyncio
import logging
from collections.abc import Coroutine, Mapping
from contextlib import aclosing
from typing import Any

import chainlit as cl
from chainlit.chat_settings import ChatSettings
from chainlit.config import config
from chainlit.context import context, init_ws_context
from chainlit.server import sio
from chainlit.session import WebsocketSession
from chainlit.types import Starter, ThreadDict
from chainlit.user import User
from starlette.datastructures import Headers

from condensery.agents.title import title_agent
from condensery.app import App
from condensery.errors import CondenseryError, ConfigError
from condensery.models.languages import language_notice
from condensery.settings_profiles import talking
from condensery.ui.choices import Choices, changed, known, panel
from condensery.ui.data_layer import LOCAL_USER, TurnsDataLayer
from condensery.ui.live import LiveTurn
from condensery.ui.offers import ASK, offer, said, take_back
from condensery.ui.page import current_page
from condensery.ui.running import Running
from condensery.ui.starters import questions_for
from condensery.ui.threads import ThreadRepository, short
from condensery.ui.transcript import Place, Transcript, is_unanswered
from condensery.workflows.events import CondensedQuestion, TurnFinished
from condensery.workflows.partial import reason_of
from condensery.workflows.titles import title_of_message
from condensery.workflows.turn import Turn

log = logging.getLogger(__name__)

SHOWN = "settings the panel shows"
SETTLE_SECONDS = 0.3  # after this the page has shown what it was sent


class Chat:
    """The callbacks of one open app. Whatever fails, the person reads a sentence of ours and the chat goes on."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._prompts = app.services.prompts
        self._running = Running()
        self._threads = ThreadRepository(app.services.database)
        self._transcript = Transcript(self._prompts)
        agents = talking(app.settings)
        self._data_layer = TurnsDataLayer(self._threads, app.services.turns, self._running, self._transcript, agents)
        self._notice_given = False
        self._tasks: set[asyncio.Task[None]] = set()

    def register(self) -> None:
        """Hand the callbacks to Chainlit, which knows one app per process."""
        cl.data_layer(lambda: self._data_layer)
        cl.header_auth_callback(self.sign_in)
        cl.set_starters(self.starters)
        cl.on_chat_start(self.on_start)
        cl.on_settings_update(self.on_settings)
        cl.on_message(self.on_message)
        cl.action_callback(ASK)(self.on_ask)
        config.code.on_chat_resume = self.on_resume  # the decorator would end the loading state that we may begin
        sio.on("stop", self.on_stop)  # Chainlit's own says "Task manually stopped." and stops the newest task only

    async def close(self) -> None:
        """Stop every turn; what there is of the answers is kept."""
        await self._running.stop_all()

    async def sign_in(self, headers: Headers) -> User | None:
        """Everybody who may reach the app is the one local user; `Guard` decides who may."""
        return User(identifier=LOCAL_USER)

    async def starters(self, user: User | None = None) -> list[Starter]:
        """Sample questions for the example documents."""
        documents = await self._app.services.documents.list()
        questions = questions_for(document.source for document in documents)
        return [Starter(label=question, message=question) for question in questions]

    async def on_start(self) -> None:
        """A new chat: its settings panel, and what somebody should know before the first question."""
        await self._show_choices({})
        for notice in await self._notices():
            await current_page().send_step(self._transcript.notice(context.session.thread_id, notice))

    async def on_resume(self, thread: ThreadDict) -> None:
        """A chat reopened: its settings as they were; a turn still running is shown when it ends."""
        await self._show_choices(context.session.chat_settings)
        self._spawn(self._close_passages())
        if any(is_unanswered(step) for step in thread["steps"]):
            self._spawn(self._catch_up(thread["id"]))

    async def on_settings(self, chosen: dict[str, Any]) -> None:
        """This chat's choices hold for it from the next turn on, the settings of all chats for everything.

        A setting that cannot be what was chosen stays as it was, and the person reads why.
        """
        await self._threads.change(context.session.thread_id, settings=self._known(chosen))
        shown = cl.user_session.get(SHOWN) or self._app.settings  # type: ignore[no-untyped-call]  # Chainlit's
        if changes := changed(chosen, shown):
            try:
                await self._app.set_settings(changes)
            except CondenseryError as error:
                await current_page().send_toast(f"{self._prompts.text('ui.not_changed')}: {_reasons(error)}", "error")
            await self._show_choices(self._known(chosen))

    async def on_message(self, message: cl.Message) -> None:
        """Answer one message; several may be answered at once."""
        run = cl.context.current_run
        assert run is not None  # noqa: S101  # Chainlit's wrapper of this callback starts one
        place = Place(context.session.thread_id, run.id, run.id, run.created_at or "")
        live = LiveTurn(current_page(), self._transcript, place, message.content)
        await take_back(current_page())
        with self._running.turn(place.thread_id, message.content):
            try:
                await self._answer(message.content, place.thread_id, place.answer, live)
            except asyncio.CancelledError:
                await live.stopped()
                raise
            except ConfigError as error:
                await live.failed(str(error))
            except Exception as error:
                log.exception("a message could not be answered")
                reason = reason_of(error)
                await live.failed(self._prompts.text(f"refusal.{reason}"), reason)

    async def on_ask(self, action: cl.Action) -> None:
        """A question that was offered: asked as if it had been typed."""
        if (message := await said(action)) is not None and config.code.on_message is not None:
            self._spawn(config.code.on_message(message))

    async def on_stop(self, sid: str) -> None:
        """Stop everything that this chat is answering."""
        session = WebsocketSession.get(sid)
        if session is not None:
            init_ws_context(session)
            await self._running.stop(session.thread_id)

    async def _answer(self, message: str, thread_id: str, answer_id: str, live: LiveTurn) -> None:
        chosen = context.session.chat_settings
        await self._threads.open(thread_id, user_id=LOCAL_USER, name=title_of_message(message))
        await self._threads.change(thread_id, settings=self._known(chosen))
        choices, asked, finished = Choices.of(chosen, talking(self._app.settings)), "", None
        turn = self._app.stream(
            message,
            agent=choices.agent,
            conversation_id=thread_id,
            user_id=LOCAL_USER,
            organization_id=self._app.settings.memory.organization,
            engine=choices.engine,
            method=choices.method,
        )
        async with aclosing(turn) as events:
            async for event in events:
                await live.show(event)
                if isinstance(event, CondensedQuestion):
                    asked = event.question
                if isinstance(event, TurnFinished):
                    finished = event.turn
        self._spawn(self._close_passages())
        if asked and self._app.services.answer_model is not None:
            self._spawn(self._retitle(thread_id, message, asked))
        if finished is not None:
            self._spawn(self._offer(finished, thread_id, answer_id))

    async def _offer(self, turn: Turn, thread_id: str, answer_id: str) -> None:
        """Offer what may be asked next, unless the person was quicker."""
        try:
            questions = await self._app.suggest(turn)
        except Exception as error:
            log.warning("nothing is offered to ask next (%s)", type(error).__name__)
            log.debug("the reason", exc_info=error)
        else:
            if not self._running.messages(thread_id):
                await offer(current_page(), answer_id, questions)

    async def _retitle(self, thread_id: str, message: str, question: str) -> None:
        """Let the model title a thread that is still listed under the key terms of this message, its first."""
        drafted = title_of_message(message)
        try:
            thread = await self._threads.get(thread_id)
            if thread is not None and thread.name == short(drafted):
                titled = await title_agent(self._app.services).title(question)
                await self._threads.rename(thread_id, drafted, titled.title)
        except Exception as error:
            log.warning("a chat keeps the title of its key terms (%s)", type(error).__name__)
            log.debug("the reason", exc_info=error)

    def _known(self, chosen: Mapping[str, Any]) -> dict[str, str]:
        return known(chosen, talking(self._app.settings))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)  # the loop keeps no reference of its own
        task.add_done_callback(self._tasks.discard)

    async def _close_passages(self) -> None:
        """Close the hidden list of passages (see `Transcript.elements`), which on a small screen covers the chat."""
        await asyncio.sleep(SETTLE_SECONDS)
        await current_page().emit("set_sidebar_elements", {"elements": [], "key": None})

    async def _catch_up(self, thread_id: str) -> None:
        page = current_page()
        await page.task_start()
        await self._running.wait(thread_id)
        if thread := await self._data_layer.get_thread(thread_id):
            await page.resume_thread(thread)
        await page.task_end()

    async def _show_choices(self, chosen: Mapping[str, Any]) -> None:
        settings = await self._app.refresh()
        cl.user_session.set(SHOWN, settings)  # type: ignore[no-untyped-call]  # Chainlit's
        tabs = panel(chosen, self._prompts, settings, self._app.services.usable_methods())
        await ChatSettings(tabs).send()  # type: ignore[no-untyped-call]  # Chainlit's

    async def _notices(self) -> list[str]:
        """A failure is one too: what Chainlit would show instead is the exception's own text."""
        try:
            language = None if self._notice_given else language_notice(self._app.settings)
            texts = [self._prompts.text(key) for key in await self._worth_knowing()]
            return [*texts, *filter(None, [language])]
        except Exception as error:
            log.exception("a chat could not be prepared")
            return [self._prompts.text(f"refusal.{reason_of(error)}")]

    async def _worth_knowing(self) -> list[str]:
        if not await self._app.services.documents.count():
            return ["meta.no_documents"]
        first = not self._notice_given and not (await self._threads.list(LOCAL_USER, limit=1)).threads
        self._notice_given = True
        return ["ui.better_model"] if first and self._app.services.quoting_for_want_of_a_model else []


def _reasons(error: CondenseryError) -> str:
    """What an error lists, or says, on one line."""
    first, *listed = str(error).splitlines()
    return "; ".join(line.strip() for line in listed) or first
