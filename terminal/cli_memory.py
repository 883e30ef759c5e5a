"""`condensery memory`: the declarations of its commands."""

from pathlib import Path
from typing import Annotated

import typer

from condensery.terminal.cli_eval import examples
from condensery.terminal.running import run, starting

memory_app = typer.Typer(no_args_is_help=True, rich_markup_mode="rich", add_completion=False)

User = Annotated[str | None, typer.Option("--user", metavar="ID", help="Whose memory; memory.user by default.")]
By = Annotated[str | None, typer.Option("--user", metavar="ID", help="Who does so; memory.user by default.")]
Shared = Annotated[
    str | None,
    typer.Option("--organization", metavar="ID", help="The facts this organization shares, instead of a user's."),
]
Organization = Annotated[
    str | None,
    typer.Option("--organization", metavar="ID", help="The organization; memory.organization by default."),
]
Everybody = Annotated[bool, typer.Option("--everybody", help="Of all users, not of one.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else on stdout.")]
Proposals = Annotated[list[str], typer.Argument(metavar="PROPOSAL", help="Ids from `condensery memory proposals`.")]


@memory_app.callback()
def remembered() -> None:
    """See, take along and take back what is remembered about a person; share facts in an organization.

    Facts are what people say of themselves in a question, such as “I live in Oslo”. They are recalled for later
    questions. All of this works while memory is off, too. Exit code 2: something to change, such as an id or a right.
    """


@memory_app.command(
    name="list",
    epilog=examples(
        "condensery memory list", "condensery memory list --history", "condensery memory list --organization acme"
    ),
)
def list_(
    context: typer.Context,
    user: User = None,
    organization: Shared = None,
    history: Annotated[bool, typer.Option("--history", help="Facts that were superseded or expired, too.")] = False,
    as_json: Json = False,
) -> None:
    """List facts, the newest first."""
    with starting():
        from condensery.terminal.memory_commands import list_facts

    run(list_facts(context.obj, user=user, organization=organization, history=history, json=as_json))


@memory_app.command(epilog=examples("condensery memory show 5f0c…", "condensery memory show 5f0c… --json"))
def show(
    context: typer.Context,
    fact: Annotated[str, typer.Argument(metavar="FACT", help="An id from `condensery memory list`.")],
    user: User = None,
    as_json: Json = False,
) -> None:
    """Show one fact: when and in which turn and conversation it was said, and what it took the place of."""
    with starting():
        from condensery.terminal.memory_commands import show_fact

    run(show_fact(fact, context.obj, user=user, json=as_json))


@memory_app.command(
    epilog=examples(
        "condensery memory forget 5f0c… 77ab…",
        "condensery memory forget --conversation 3f0c…",
        "condensery memory forget --everything --yes",
    )
)
def forget(
    context: typer.Context,
    facts: Annotated[
        list[str] | None, typer.Argument(metavar="FACT", help="Ids from `condensery memory list`.")
    ] = None,
    conversation: Annotated[
        str | None, typer.Option("--conversation", metavar="ID", help="All that was said in this conversation.")
    ] = None,
    everything: Annotated[bool, typer.Option("--everything", help="All of the user's, or of the organization's.")] = (
        False
    ),
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before everything is erased.")] = False,
    user: User = None,
    organization: Shared = None,
) -> None:
    """Erase facts with their history, and what still waits to be stored; then search, to see that they are gone.

    Name facts, a conversation, or everything. The conversations themselves stay. What a fact had taken the place of is
    not recalled again: say it once more, or forget it too (`condensery memory list --history`). For an organization's
    facts, --user must be among memory.approvers. Exit code 1 when a fact was not there.
    """
    if [bool(facts), conversation is not None, everything].count(True) != 1:
        raise typer.BadParameter("name facts, or --conversation ID, or --everything: one of the three")
    if conversation is not None and organization is not None:
        raise typer.BadParameter("an organization's facts belong to no conversation; name facts, or --everything")
    with starting():
        from condensery.terminal.memory_commands import ask_first, forget_facts, forget_more

    if facts:
        run(forget_facts(facts, context.obj, user=user, organization=organization))
    if everything:
        ask_first(context.obj, user=user, organization=organization, yes=yes)
    run(forget_more(context.obj, user=user, organization=organization, conversation=conversation))


@memory_app.command(epilog=examples("condensery memory export", "condensery memory export --output memory.json"))
def export(
    context: typer.Context,
    user: User = None,
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="Where to write it; stdout otherwise.")] = None,
) -> None:
    """Write all that is kept about a user's memory as JSON: facts, history, switch, what waits, proposals."""
    with starting():
        from condensery.terminal.memory_commands import export_memory

    run(export_memory(context.obj, user=user, output=output))


@memory_app.command(epilog=examples("condensery memory on", "condensery memory on --user ada"))
def on(context: typer.Context, user: User = None) -> None:
    """Recall and store facts of this user from the next turn on."""
    with starting():
        from condensery.terminal.memory_commands import switch

    run(switch(context.obj, user=user, on=True))


@memory_app.command(epilog=examples("condensery memory off", "condensery memory off --user ada"))
def off(context: typer.Context, user: User = None) -> None:
    """Neither recall nor store facts of this user. What is stored stays, and can be seen and forgotten."""
    with starting():
        from condensery.terminal.memory_commands import switch

    run(switch(context.obj, user=user, on=False))


@memory_app.command(
    epilog=examples("condensery memory propose 'The office in Bergen closes at four.' --organization acme")
)
def propose(
    context: typer.Context,
    text: Annotated[str, typer.Argument(metavar="FACT", help="One sentence that stands alone.")],
    user: By = None,
    organization: Organization = None,
    as_json: Json = False,
) -> None:
    """Propose a fact for an organization to share. It is used once somebody has approved it."""
    with starting():
        from condensery.terminal.memory_sharing import propose

    run(propose(text, context.obj, user=user, organization=organization, json=as_json))


@memory_app.command(epilog=examples("condensery memory proposals --organization acme --json"))
def proposals(context: typer.Context, organization: Organization = None, as_json: Json = False) -> None:
    """List the proposals that wait for a decision."""
    with starting():
        from condensery.terminal.memory_sharing import proposals

    run(proposals(context.obj, organization=organization, json=as_json))


@memory_app.command(epilog=examples("condensery memory approve 1a2b3c… --user ada --organization acme"))
def approve(context: typer.Context, ids: Proposals, user: By = None, organization: Organization = None) -> None:
    """Let an organization share what was proposed; for users whom memory.approvers names. Counts once and for all."""
    with starting():
        from condensery.terminal.memory_sharing import decide

    run(decide(ids, context.obj, user=user, organization=organization, approved=True))


@memory_app.command(epilog=examples("condensery memory reject 1a2b3c… --user ada --organization acme"))
def reject(context: typer.Context, ids: Proposals, user: By = None, organization: Organization = None) -> None:
    """Decide against proposals; for users whom memory.approvers names. Counts once and for all."""
    with starting():
        from condensery.terminal.memory_sharing import decide

    run(decide(ids, context.obj, user=user, organization=organization, approved=False))


@memory_app.command(epilog=examples("condensery memory parked", "condensery memory parked --everybody --json"))
def parked(context: typer.Context, user: User = None, everybody: Everybody = False, as_json: Json = False) -> None:
    """List turns whose facts could not be stored after memory.attempts tries, with the reason."""
    with starting():
        from condensery.terminal.memory_sharing import parked

    run(parked(context.obj, user=user, everybody=everybody, json=as_json))


@memory_app.command(epilog=examples("condensery memory retry", "condensery memory retry 12 15 --everybody"))
def retry(
    context: typer.Context,
    ids: Annotated[
        list[int] | None, typer.Argument(metavar="ID", help="Ids from `condensery memory parked`; all without one.")
    ] = None,
    user: User = None,
    everybody: Everybody = False,
) -> None:
    """Let parked turns be tried again, by the app or by [bold]condensery worker[/bold]."""
    with starting():
        from condensery.terminal.memory_sharing import retry

    run(retry(ids or [], context.obj, user=user, everybody=everybody))


@memory_app.command(
    epilog=examples(
        "condensery memory reembed", "CONDENSERY_EMBEDDINGS__MODEL=/models/minilm condensery memory reembed"
    )
)
def reembed(context: typer.Context) -> None:
    """Embed everything that is remembered anew, after another embeddings.model was set. All of it is, or nothing."""
    with starting():
        from condensery.terminal.reembedding import embed_anew

    run(embed_anew(context.obj))


def worker(
    context: typer.Context,
    once: Annotated[bool, typer.Option("--once", help="Do what is due now, and end.")] = False,
    drain: Annotated[
        bool, typer.Option("--drain", help="End when nothing waits any more, also not for another try.")
    ] = False,
) -> None:
    """Store what people said of themselves, outside the app: for an app with memory.in_process = false, and for more.

    Several may run at once. Ctrl-C ends it after the turn at work; a turn that is broken off is looked at again.
    """
    with starting():
        from condensery.terminal.working import worker

    run(worker(context.obj, once=once, drain=drain))
