"""What a person can tell the chat itself: lines that begin with a colon."""

import uuid
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, NamedTuple

from condensery.app import App
from condensery.errors import UnknownName
from condensery.retrieval.plans import METHOD_NAMES
from condensery.settings_profiles import DEFAULT, talking
from condensery.terminal.options import Options
from condensery.terminal.output import out
from condensery.terminal.remembering import show_facts
from condensery.terminal.sources import by_number, show_passages
from condensery.workflows.engines.table import ENGINES
from condensery.workflows.turn import Turn


@dataclass
class Talk:
    """A conversation in progress, and what was chosen for it; None: what the settings say, also when they change.

    `offered` are questions to ask next; `said` is the one of them that was chosen.
    """

    app: App
    options: Options
    conversation: str
    run: Callable[[Coroutine[Any, Any, Any]], Any]
    agent: str | None = None
    engine: str | None = None
    method: str | None = None
    last: Turn | None = None
    offered: tuple[str, ...] = ()
    said: str = ""
    over: bool = False


class Command(NamedTuple):
    """A command: what it takes, what it does in words, and the doing."""

    takes: str
    what: str
    act: Callable[[Talk, str], None]


def is_command(line: str) -> bool:
    """Whether a line is meant for the chat and not for the documents; `:)` is not."""
    return line[:1] == ":" and line[1:2].isalpha()


def obey(talk: Talk, line: str) -> None:
    """Carry out a line such as `:engine simple`; raises `ConfigError`, such as `UnknownName`."""
    name, _, argument = line[1:].partition(" ")
    if name not in COMMANDS:
        raise UnknownName("command", f":{name}", [f":{known}" for known in COMMANDS])
    COMMANDS[name].act(talk, argument.strip())


def _help(talk: Talk, _: str) -> None:
    lines = {f":{name} {command.takes}".strip(): command.what for name, command in COMMANDS.items()}
    width = max(map(len, lines))
    for usage, what in lines.items():
        out.say(f"  {usage:<{width}}  {what}")
    out.say("Ctrl-C stops an answer; at the prompt it leaves the chat, as Ctrl-D does.")


def _sources(talk: Talk, _: str) -> None:
    if talk.last is None:
        out.say("Nothing was asked yet.")
    elif not by_number(talk.last):
        out.say("The last answer cites no passage.")
    else:
        show_passages(talk.last)


def _ask(talk: Talk, number: str) -> None:
    if number.isdecimal() and 1 <= int(number) <= len(talk.offered):
        talk.said = talk.offered[int(number) - 1]
        out.say(talk.said, style="dim")
    elif talk.offered:
        show_offered(talk)
    else:
        out.say("There is nothing to suggest.")


def show_offered(talk: Talk) -> None:
    """Show the questions that are offered, with what to type."""
    introduction = talk.app.services.prompts.text("suggest.introduction")
    lines = (f"  :ask {number}  {question}" for number, question in enumerate(talk.offered, start=1))
    out.say("\n".join([f"{introduction}:", *lines]), style="dim")


def _agent(talk: Talk, name: str) -> None:
    if name:
        talk.app.named(None if name == DEFAULT else name)
        talk.agent = None if name == DEFAULT else name
    out.say(f"agent: {talk.agent or DEFAULT} (of {', '.join([DEFAULT, *talking(talk.app.settings)])})")


def _engine(talk: Talk, name: str) -> None:
    if name:
        talk.app.services.engine(name)
        talk.engine = name
    out.say(f"engine: {talk.engine or talk.app.settings.condense.engine} (of {', '.join(ENGINES)})")


def _method(talk: Talk, name: str) -> None:
    if name:
        plan = talk.app.services.plan(name)
        talk.app.services.check(plan)
        talk.method = plan.name
    out.say(f"method: {talk.app.services.plan(talk.method).name} (of {', '.join(METHOD_NAMES)})")


def _memory(talk: Talk, _: str) -> None:
    user = talk.app.settings.memory.user
    if facts := talk.run(talk.app.memory.list(user)):
        show_facts(facts, history=False)
    else:
        out.say(f"Nothing is remembered about {user}.")
    if not talk.run(talk.app.memory.state(user)).on:
        out.say("Memory is off: nothing is recalled, and nothing new is stored.")


def _new(talk: Talk, _: str) -> None:
    talk.conversation, talk.last = str(uuid.uuid4()), None
    out.say("A new conversation: nothing said before counts any more.")


def _quit(talk: Talk, _: str) -> None:
    talk.over = True


COMMANDS: dict[str, Command] = {
    "ask": Command("[NUMBER]", "ask one of the questions that were suggested", _ask),
    "sources": Command("", "the passages the last answer cites", _sources),
    "agent": Command("[NAME]", "who answers", _agent),
    "engine": Command("[NAME]", "how a follow-up becomes a standalone question", _engine),
    "method": Command("[NAME]", "how documents are searched", _method),
    "memory": Command("", "what is remembered about you", _memory),
    "new": Command("", "start a new conversation", _new),
    "help": Command("", "this list", _help),
    "quit": Command("", "leave", _quit),
}
