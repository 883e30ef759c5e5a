"""What the commands of `condensery memory` about one user do."""

import asyncio
from pathlib import Path

import typer

from condensery.errors import ConfigError
from condensery.memory.control import FactDetails, Forgotten
from condensery.terminal.fact_ids import whole_id
from condensery.terminal.options import Options
from condensery.terminal.output import err, out
from condensery.terminal.remembering import Remembering, as_json, moment, remembering, show_facts, state_of
from condensery.terminal.running import Code


async def list_facts(
    options: Options, *, user: str | None, organization: str | None, history: bool, json: bool
) -> Code:
    """List the facts of a user, or of an organization when one is named."""
    async with remembering(options) as found:
        if organization is not None:
            facts = await found.control.list_organization(organization, history=history)
            whose, state = f"the organization {organization}", ""
        else:
            whose = found.user(user)
            facts = await found.control.list(whose, history=history)
            state = await _off(found, whose, options)
    if json:
        out.write(as_json(facts))
        return Code.OK
    if facts:
        show_facts(facts, history=history)
    else:
        err.say(f"Nothing is remembered about {whose}.")
    if state:
        err.say(state)
    return Code.OK


async def show_fact(fact_id: str, options: Options, *, user: str | None, json: bool) -> Code:
    """Show one fact, where it is from, and what it took the place of."""
    async with remembering(options) as found:
        details = await found.control.show(found.user(user), await whole_id(found, fact_id, user=user))
    if json:
        out.write(as_json(details))
    else:
        _say_details(details)
    return Code.OK


async def forget_facts(fact_ids: list[str], options: Options, *, user: str | None, organization: str | None) -> Code:
    """Erase single facts; 1 when one of them is not there."""
    code = Code.OK
    async with remembering(options) as found:
        for typed in fact_ids:
            fact_id = await whole_id(found, typed, user=user, organization=organization)
            if await _forget_one(found, fact_id, user=user, organization=organization):
                out.say(f"forgot {fact_id}")
            else:
                err.say(f"there is no fact {fact_id}; see {options.command('memory list --history')}", style="red")
                code = Code.FAILED
    return code


async def forget_more(
    options: Options, *, user: str | None, organization: str | None, conversation: str | None
) -> Code:
    """Erase the facts of a conversation, or everything when none is named."""
    async with remembering(options) as found:
        whose = found.user(user)
        if organization is not None:
            count = await found.control.forget_organization(organization, by=whose, everything=True)
            done = Forgotten(facts=count, waiting=0)
        elif conversation is not None:
            done = await found.control.forget(whose, conversation_id=conversation)
        else:
            done = await found.control.forget(whose, everything=True)
    waiting = f", and {counted(done.waiting, 'turn')} that waited to be looked at" if done.waiting else ""
    out.say(f"forgot {counted(done.facts, 'fact')}{waiting}; {_verified(found)}")
    return Code.OK


async def export_memory(options: Options, *, user: str | None, output: Path | None) -> Code:
    """Write everything kept about a user's memory as JSON, to a file or to stdout."""
    async with remembering(options) as found:
        text = as_json(await found.control.export(found.user(user)))
    if output is None:
        out.write(text)
        return Code.OK
    try:
        await asyncio.to_thread(output.write_text, text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot write {output}: {error.strerror}; choose another --output") from error
    err.say(f"wrote {output}")
    return Code.OK


async def switch(options: Options, *, user: str | None, on: bool) -> Code:
    """Turn memory on or off for a user."""
    async with remembering(options) as found:
        whose = found.user(user)
        if on:
            await found.control.on(whose)
            out.say(f"memory is on for {whose}")
            if state := await _off(found, whose, options):
                err.say(state)
            return Code.OK
        await found.control.off(whose)
    out.say(f"memory is off for {whose}: nothing is recalled or stored; what is stored stays until it is forgotten")
    return Code.OK


def ask_first(options: Options, *, user: str | None, organization: str | None, yes: bool) -> None:
    """Ask before everything is erased, unless `yes`; leaves the program without a yes."""
    if yes:
        return
    whose = user if user is not None else options.settings().memory.user
    what = f"the organization {organization} shares" if organization is not None else f"is remembered about {whose}"
    if not err.is_terminal:
        raise ConfigError(f"nobody can be asked here whether to forget everything that {what}; add --yes")
    typer.confirm(f"Forget everything that {what}? It cannot be brought back.", abort=True, err=True)


def counted(number: int, thing: str) -> str:
    """A number of things: 1 fact, 2 facts."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


async def _forget_one(found: Remembering, fact_id: str, *, user: str | None, organization: str | None) -> bool:
    whose = found.user(user)
    if organization is not None:
        return bool(await found.control.forget_organization(organization, by=whose, fact_id=fact_id))
    return bool((await found.control.forget(whose, fact_id=fact_id)).facts)


async def _off(found: Remembering, user: str, options: Options) -> str:
    """What to say when nothing is recalled and stored; nothing while it is."""
    if not found.settings.memory.enabled:
        return f"Memory is off for everybody: {options.command('set memory.enabled true')} switches it on."
    if await found.control.enabled(user):
        return ""
    return f"Memory is off for {user}: {options.command('memory on')} switches it on."


def _verified(found: Remembering) -> str:
    unsearched = found.memory.unsearched
    if unsearched is None:
        return "a search finds none of them"
    return f"the database holds none of them (they were not searched for: {unsearched})"


def _say_details(details: FactDetails) -> None:
    fact = details.fact
    rows = {
        "fact": fact.text,
        "id": fact.id,
        "state": state_of(fact),
        "said": moment(fact.said_at),
        "conversation": fact.conversation_id or "",
        "turn": fact.turn_id or "",
        "kind": fact.slot or "",
        "until": fact.expires_on.isoformat() if fact.expires_on else "",
        "superseded by": details.superseded_by.text if details.superseded_by else "",
        "superseded": moment(fact.superseded_at),
    }
    for name, value in rows.items():
        if value:
            out.say(f"{name:<14} {value}")
    for older in details.superseded:
        out.say(f"{'in place of':<14} {older.text} ({moment(older.said_at)}, {older.id})")
