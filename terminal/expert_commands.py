"""What the commands of `condensery experts` do."""

import sys

import typer
from rich.table import Table

from condensery.experts.types import ExpertRequest
from condensery.terminal.explain import cell
from condensery.terminal.opening import opened
from condensery.terminal.options import Options
from condensery.terminal.output import err, out
from condensery.terminal.remembering import as_json, moment
from condensery.terminal.running import Code

HIDDEN = frozenset({"question", "conversation_id", "turn_id", "user_id", "organization_id", "runs"})
"""What an expert has no need to know; of the question the text is shown."""


def reply_from(words: list[str]) -> str:
    """The reply on the command line, or all of stdin for `-`."""
    text = sys.stdin.read() if words == ["-"] else " ".join(words)
    if not text.strip():
        raise typer.BadParameter("the reply is blank; type one, or pass - and send it on stdin")
    return text


async def list_open(options: Options, *, json: bool) -> Code:
    """List what waits for a reply."""
    async with opened(options.settings()) as app:
        waiting = await app.experts.list()
    if json:
        out.write(as_json([for_experts(request) for request in waiting]))
        return Code.OK
    if not waiting:
        err.say("No question waits.")
        return Code.OK
    table = Table("id", "question")
    table.columns[0].no_wrap = True
    for name in ("asked", "until", "channel"):
        table.add_column(name, no_wrap=True)
    for each in waiting:
        table.add_row(each.id, cell(each.text), moment(each.asked_at), moment(each.expires_at), each.channel)
    out.print(table)
    err.say(f"To answer: {options.command('experts answer ID TEXT --name NAME')}")
    return Code.OK


async def show(request_id: str, options: Options, *, json: bool) -> Code:
    """Show one question."""
    async with opened(options.settings()) as app:
        request = await app.experts.show(request_id)
    if json:
        out.write(as_json(for_experts(request)))
        return Code.OK
    out.say(request.text)
    out.say(f"{request.state}; asked {moment(request.asked_at) or 'never'}, until {moment(request.expires_at) or '–'}")
    if request.expert:
        out.say(f"{request.expert} ({moment(request.settled_at)}): {request.reply or ''}")
    return Code.OK


async def answer(request_id: str, reply: str, options: Options, *, name: str | None, json: bool) -> Code:
    """Take the reply of an expert."""
    async with opened(options.settings()) as app:
        await app.experts.answer(request_id, reply, expert=name)
        return await _told(await app.experts.show(request_id), "answered", json=json)


async def decline(request_id: str, options: Options, *, reason: str, name: str | None, json: bool) -> Code:
    """An expert will not answer."""
    async with opened(options.settings()) as app:
        await app.experts.decline(request_id, reason=reason, expert=name)
        return await _told(await app.experts.show(request_id), "declined", json=json)


def for_experts(request: ExpertRequest) -> dict[str, object]:
    """The fields that an expert may see."""
    return {**request.model_dump(mode="json", exclude=set(HIDDEN)), "question": request.text}


async def _told(request: ExpertRequest, done: str, *, json: bool) -> Code:
    if json:
        out.write(as_json(for_experts(request)))
    elif request.closed_at:
        out.say(f"{done} {request.id}: the user finds it in the conversation")
    else:
        out.say(f"{done} {request.id}: the user will find it in the conversation in a moment")
    return Code.OK
