"""`condensery experts`: the declarations of its commands."""

from typing import Annotated

import typer

from condensery.terminal.cli_eval import examples
from condensery.terminal.running import run, starting

experts_app = typer.Typer(no_args_is_help=True, rich_markup_mode="rich", add_completion=False)

Question = Annotated[str, typer.Argument(metavar="ID", help="An id from `condensery experts list`.")]
Name = Annotated[str | None, typer.Option("--name", metavar="NAME", help="Who replies: shown to the user, and cited.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else on stdout.")]


@experts_app.callback()
def asked() -> None:
    """The desk of the experts: questions that users had sent, because no document answers them.

    An expert sees the standalone question alone. Exit code 2: a question that is not there, or takes no reply any more.
    """


@experts_app.command(name="list", epilog=examples("condensery experts list", "condensery experts list --json"))
def list_(context: typer.Context, as_json: Json = False) -> None:
    """List the questions that wait for a reply, the oldest first."""
    with starting():
        from condensery.terminal.expert_commands import list_open

    run(list_open(context.obj, json=as_json))


@experts_app.command(epilog=examples("condensery experts show 5f0c…", "condensery experts show 5f0c… --json"))
def show(context: typer.Context, question: Question, as_json: Json = False) -> None:
    """Show one question and what became of it."""
    with starting():
        from condensery.terminal.expert_commands import show as show_one

    run(show_one(question, context.obj, json=as_json))


@experts_app.command(
    epilog=examples(
        "condensery experts answer 5f0c… 'It costs 12 francs.' --name 'Dr. Weber'",
        "condensery experts answer 5f0c… - --name 'Dr. Weber' < reply.txt",
    )
)
def answer(
    context: typer.Context,
    question: Question,
    reply: Annotated[list[str], typer.Argument(metavar="TEXT", help="The reply; - reads it from stdin.")],
    name: Name = None,
    as_json: Json = False,
) -> None:
    """Answer a question: the reply appears in the user's conversation. A question takes one reply."""
    with starting():
        from condensery.terminal.expert_commands import answer as answer_one
        from condensery.terminal.expert_commands import reply_from

    run(answer_one(question, reply_from(reply), context.obj, name=name, json=as_json))


@experts_app.command(epilog=examples("condensery experts decline 5f0c… --reason 'Not my field.'"))
def decline(
    context: typer.Context,
    question: Question,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="The user is told.")] = "",
    name: Name = None,
    as_json: Json = False,
) -> None:
    """Decline a question: the user is told so."""
    with starting():
        from condensery.terminal.expert_commands import decline as decline_one

    run(decline_one(question, context.obj, reason=reason, name=name, json=as_json))


@experts_app.command(epilog=examples("condensery experts serve", "condensery experts serve --port 9000"))
def serve(
    context: typer.Context,
    host: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Address to listen on (experts.host).")] = None,
    port: Annotated[int | None, typer.Option(metavar="PORT", help="Port to listen on (experts.port).")] = None,
) -> None:
    """Take replies to the webhook at /reply, and tell users when no reply came in time, until Ctrl-C."""
    with starting():
        from condensery.terminal.expert_serving import serve as serve_replies

    given = {name: value for name, value in {"host": host, "port": port}.items() if value is not None}
    run(serve_replies(context.obj.settings(experts=given)))
