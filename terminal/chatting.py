"""`condensery chat`: a conversation in the terminal."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from concurrent.futures import CancelledError
from contextlib import asynccontextmanager
from typing import Any

from condensery.app import App
from condensery.errors import CondenseryError
from condensery.settings import Settings
from condensery.terminal.answers import asker, show_turn
from condensery.terminal.chat_commands import Talk, is_command, obey, show_offered
from condensery.terminal.hosting import Host
from condensery.terminal.keyboard import Keyboard
from condensery.terminal.opening import empty_index, opened
from condensery.terminal.options import Options
from condensery.terminal.output import err, out
from condensery.terminal.running import Code
from condensery.workflows.starting import check, turn_options

HISTORY_FILE = "chat_history"


def chat(
    options: Options, *, conversation: str | None, agent: str | None, engine: str | None, method: str | None
) -> Code:
    """Talk until the person leaves; raises `UnknownName` for an agent, an engine or a method that is none."""
    settings = options.settings()
    with Host(warmed(settings)) as host:
        talk = Talk(
            app=host.value,
            options=options,
            conversation=conversation or str(uuid.uuid4()),
            run=host.run,
            agent=agent,
            engine=engine,
            method=method,
        )
        check(talk.app.services, turn_options(engine=engine, method=method, namespaces=(), filters=None))
        host.run(welcome(talk, resumed=conversation is not None))
        keyboard = Keyboard(settings.data_dir / HISTORY_FILE)
        try:
            converse(host, talk, keyboard)
        finally:
            keyboard.close()
        if talk.last:
            out.say(f"To go on with this conversation: {options.command(f'chat --conversation {talk.conversation}')}")
    return Code.OK


@asynccontextmanager
async def warmed(settings: Settings) -> AsyncIterator[App]:
    """The app, getting ready while the person types; the first question tells what is wrong."""
    async with opened(settings) as app:
        warming = asyncio.create_task(app.warm())
        try:
            yield app
        finally:
            warming.cancel()
            await asyncio.gather(warming, return_exceptions=True)


def converse(host: Host[App], talk: Talk, keyboard: Keyboard) -> None:
    """Take lines until there are no more, or one says to leave."""
    while not talk.over and (line := keyboard.read()) is not None:
        try:
            message = line.strip()
            if is_command(message):
                obey(talk, message)
                message, talk.said = talk.said, ""
            if message:
                answer(host, talk, message)
        except CondenseryError as error:
            err.say(f"error: {error}")
        out.say()


def answer(host: Host[App], talk: Talk, message: str) -> None:
    """Show the answer to `message`; Ctrl-C stops it and keeps what was said."""
    chosen: dict[str, Any] = {"engine": talk.engine, "method": talk.method, "agent": talk.agent}
    chosen |= {"conversation_id": talk.conversation, **asker(talk.app.settings)}
    talk.offered = ()
    try:
        talk.last = host.run(show_turn(talk.app, message, **chosen))
        talk.offered = tuple(host.run(talk.app.suggest(talk.last)))
    except CancelledError:
        talk.last = next(reversed(host.run(talk.app.history(talk.conversation))), talk.last)
    if talk.offered and out.is_terminal:
        out.say()
        show_offered(talk)


async def welcome(talk: Talk, *, resumed: bool) -> None:
    """Say what a person should know before the first question."""
    services = talk.app.services
    if services.quoting_for_want_of_a_model:
        out.say(services.prompts.text("ui.better_model"), style="dim")
    if not await services.documents.count():
        out.say(empty_index(talk.options))
    if resumed:
        await show_resumed(talk)
    out.say("Ask a question. :help lists what else you can do.\n")


async def show_resumed(talk: Talk) -> None:
    """Show how the conversation stood, or that it begins."""
    turns = await talk.app.history(talk.conversation)
    if not turns:
        out.say(f"There is no conversation {talk.conversation} yet; it begins now.")
        return
    talk.last = turns[-1]
    out.say(f"The last of {len(turns)} so far – you: {talk.last.message}\n\n{talk.last.answer}\n", style="dim")
