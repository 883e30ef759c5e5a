"""What the commands of `condensery memory` about an organization's facts, and about what could not be stored, do."""

import shlex

from rich.table import Table

from condensery.terminal.explain import cell
from condensery.terminal.memory_commands import counted
from condensery.terminal.options import Options
from condensery.terminal.output import err, out
from condensery.terminal.remembering import as_json, moment, remembering
from condensery.terminal.running import Code


async def propose(text: str, options: Options, *, user: str | None, organization: str | None, json: bool) -> Code:
    """Let a fact wait for the approval of an organization."""
    async with remembering(options) as found:
        where = found.organization(organization)
        proposal = await found.control.propose(where, text, by=found.user(user))
    if json:
        out.write(as_json(proposal))
    else:
        next_step = f"memory approve {proposal.id} --user APPROVER --organization {shlex.quote(where)}"
        out.say(f"{proposal.id} waits until somebody approves it: {options.command(next_step)}")
    return Code.OK


async def proposals(options: Options, *, organization: str | None, json: bool) -> Code:
    """List what waits for a decision."""
    async with remembering(options) as found:
        waiting = await found.control.proposals(found.organization(organization))
    if json:
        out.write(as_json(waiting))
        return Code.OK
    if not waiting:
        err.say("No proposal waits.")
        return Code.OK
    table = Table("id", "fact", "proposed by")
    table.columns[0].no_wrap = True
    table.add_column("proposed", no_wrap=True)
    for each in waiting:
        table.add_row(each.id, cell(each.text), cell(each.proposed_by), moment(each.proposed_at))
    out.print(table)
    return Code.OK


async def decide(
    ids: list[str], options: Options, *, user: str | None, organization: str | None, approved: bool
) -> Code:
    """Approve or reject proposals, one after the other; the first that cannot be decided ends it."""
    async with remembering(options) as found:
        where, by = found.organization(organization), found.user(user)
        for proposal_id in ids:
            if not approved:
                await found.control.reject(where, proposal_id, by=by)
                out.say(f"rejected {proposal_id}")
            elif await found.control.approve(where, proposal_id, by=by):
                out.say(f"approved {proposal_id}: {where} shares it from now on")
            else:
                out.say(f"approved {proposal_id}: {where} knew it already")
    return Code.OK


async def parked(options: Options, *, user: str | None, everybody: bool, json: bool) -> Code:
    """List turns whose facts could not be stored; what was said in them is left out."""
    async with remembering(options) as found:
        rows = await found.control.parked(found.user(user), everybody=everybody)
    if json:
        out.write(as_json([row.model_dump(mode="json", exclude={"payload"}) for row in rows]))
        return Code.OK
    if not rows:
        err.say("Nothing is parked.")
        return Code.OK
    table = Table("id", "user", "conversation", "said", "tries", "reason")
    for row in rows:
        who = (cell(row.user_id or ""), cell(row.conversation_id))
        table.add_row(f"{row.id}", *who, moment(row.said_at), f"{row.attempts}", cell(row.last_error or ""))
    out.print(table)
    err.say(f"To try again: {options.command('memory retry')}")
    return Code.OK


async def retry(ids: list[int], options: Options, *, user: str | None, everybody: bool) -> Code:
    """Let parked turns be tried again; 1 when one of those named is not parked."""
    async with remembering(options) as found:
        count = await found.control.retry(found.user(user), ids or None, everybody=everybody)
    out.say(f"{counted(count, 'turn')} will be tried again")
    if missing := len(set(ids)) - count if ids else 0:
        err.say(
            f"{missing} of those named not parked; see {options.command('memory parked')}",
            style="red",
        )
    return Code.FAILED if missing else Code.OK
