"""The command line. Only declarations: a command imports what it needs when it runs, so that `--help` is quick."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from condensery.terminal.cli_agents import Agent, agents, classify, draw
from condensery.terminal.cli_eval import eval_app, examples
from condensery.terminal.cli_experts import experts_app
from condensery.terminal.cli_memory import memory_app, worker
from condensery.terminal.options import Options, debugging, globals_first, set_up_logging
from condensery.terminal.output import prepare_streams
from condensery.terminal.running import readable_errors, run, starting

app = typer.Typer(
    name="condensery",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(eval_app, name="eval")
app.add_typer(memory_app, name="memory")
app.add_typer(experts_app, name="experts")


Conversation = Annotated[
    str | None,
    typer.Option("--conversation", metavar="ID", help="Go on with this conversation; a new ID begins one."),
]
Engine = Annotated[
    str | None, typer.Option(metavar="NAME", help="How a follow-up becomes a standalone question (condense.engine).")
]
Method = Annotated[
    str | None, typer.Option(metavar="NAME", help="How documents are searched: hybrid, hyde/semantic, reranked/bm25 …")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else on stdout.")]


def path_from(text: str) -> Path:
    """A path to ingest; a blank one would mean the working directory."""
    if not text.strip():
        raise typer.BadParameter("the path is blank; name a file or a folder, or . for this one")
    return Path(text)


def show_version(wanted: bool) -> None:
    """Print the version and leave."""
    if wanted:
        from importlib.metadata import version

        typer.echo(f"condensery {version('condensery')}")
        raise typer.Exit


@app.callback(epilog=examples("condensery ingest ~/documents", "condensery chat"))
def every_command(
    context: typer.Context,
    data_dir: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Where the index and the conversations are kept.")
    ] = None,
    verbose: Annotated[
        int, typer.Option("--verbose", "-v", count=True, show_default=False, help="Log more; -vv: still more.")
    ] = 0,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks, as CONDENSERY_DEBUG=1 does.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Ask your documents, and ask back: follow-up questions are turned into standalone ones before anything searches.

    The options below may stand before or after a command. All else is a setting: see [bold]condensery settings[/bold].
    """
    context.obj = Options(data_dir=data_dir, verbose=verbose, debug=debug or debugging(()))
    set_up_logging(context.obj)


@app.command(
    epilog=examples(
        "condensery ingest ~/documents",
        "condensery ingest a.pdf b.md --namespace hr",
        "condensery ingest ~/documents --rebuild",
    )
)
def ingest(
    context: typer.Context,
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH", parser=path_from, help="Files, or folders with all that is in them."),
    ],
    namespace: Annotated[str | None, typer.Option(metavar="NAME", help="A part of the index to put them in.")] = None,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Empty the index first, every namespace of it: for another model.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Bring documents into the index: text, Markdown, HTML, PDF, Word.

    Only what changed is read again. Exit code 1 when a file failed; the others are in the index all the same.
    """
    with starting():
        from condensery.terminal.ingesting import ingest

    run(ingest(paths, context.obj, namespace=namespace, as_json=as_json, rebuild=rebuild))


@app.command(epilog=examples("condensery chat", "condensery chat --conversation 3f0c… --method bm25"))
def chat(
    context: typer.Context,
    conversation: Conversation = None,
    agent: Agent = None,
    engine: Engine = None,
    method: Method = None,
) -> None:
    """Talk with your documents in this terminal.

    Ctrl-C stops an answer; at the prompt it leaves. [bold]:help[/bold] lists what the chat can do besides.
    """
    with starting():
        from condensery.terminal.chatting import chat

    raise typer.Exit(chat(context.obj, conversation=conversation, agent=agent, engine=engine, method=method))


@app.command(
    epilog=examples(
        "condensery ask 'What does the annual pass cost?' --explain",
        "echo 'And for children?' | condensery ask - --conversation fares --json",
    )
)
def ask(
    context: typer.Context,
    question: Annotated[list[str], typer.Argument(metavar="QUESTION", help="The question; - reads it from stdin.")],
    conversation: Conversation = None,
    as_json: Json = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show rankings and times.")] = False,
    agent: Agent = None,
    engine: Engine = None,
    method: Method = None,
) -> None:
    """Ask one question.

    Exit code 0: answered; 1: failed, try again; 2: wrong settings or command line; 3: refused, or nothing was found.
    """
    with starting():
        from condensery.terminal.asking import ask, question_from

    run(
        ask(
            question_from(question),
            context.obj,
            conversation=conversation,
            agent=agent,
            engine=engine,
            method=method,
            as_json=as_json,
            explained=explain,
        )
    )


@app.command(epilog=examples("condensery documents --json"))
def documents(context: typer.Context, as_json: Json = False) -> None:
    """List the documents in the index."""
    from condensery.terminal.listing import documents

    run(documents(context.obj, as_json=as_json))


@app.command(epilog=examples("condensery forget old-tariffs.md", "condensery forget a.pdf b.md --namespace hr"))
def forget(
    context: typer.Context,
    sources: Annotated[list[str], typer.Argument(metavar="SOURCE", help="Names as `condensery documents` lists them.")],
    namespace: Annotated[str | None, typer.Option(metavar="NAME", help="The part of the index they are in.")] = None,
) -> None:
    """Remove documents from the index; the files stay where they are.

    Exit code 1 when one was not there; the others are gone all the same.
    """
    with starting():
        from condensery.terminal.forgetting import forget

    run(forget(sources, context.obj, namespace=namespace))


@app.command(epilog=examples("condensery settings", "CONDENSERY_RETRIEVAL__TOP_K=8 condensery settings"))
def settings(context: typer.Context, as_json: Json = False) -> None:
    """Show every setting, its value and where it came from.

    A setting such as retrieval.top_k is set by CONDENSERY_RETRIEVAL__TOP_K, or in condensery.toml under \\[retrieval];
    while the app runs, by [bold]condensery set[/bold].
    """
    from condensery.terminal.listing import settings

    run(settings(context.obj, as_json=as_json))


@app.command(
    name="set",
    context_settings={"ignore_unknown_options": True},  # a value may begin with a minus
    epilog=examples(
        "condensery set retrieval.top_k 8",
        "condensery set retrieval.top_k 40 retrieval.candidates 80",
        "condensery set condense.engine simple",
        "condensery set",
    ),
)
def set_(
    context: typer.Context,
    values: Annotated[
        list[str] | None, typer.Argument(metavar="NAME VALUE…", help="Names as `condensery settings` lists them.")
    ] = None,
) -> None:
    """Change settings from the next turn on, also of an app that runs; without arguments, list which can be changed.

    They are kept in the database, and stand over the environment and condensery.toml. All are changed or none: a value
    that is not allowed, or that does not go with the others, is refused.
    """
    from condensery.terminal.setting import set_settings

    run(set_settings(values or [], context.obj))


@app.command(epilog=examples("condensery unset retrieval.top_k", "condensery unset retrieval.top_k condense.engine"))
def unset(
    context: typer.Context,
    names: Annotated[list[str], typer.Argument(metavar="NAME", help="What `condensery set` was told.")],
) -> None:
    """Undo [bold]condensery set[/bold]: let settings be again what environment, condensery.toml or defaults say."""
    from condensery.terminal.setting import unset_settings

    run(unset_settings(names, context.obj))


@app.command(name="app", epilog=examples("condensery app --port 8080 --no-open"))
def serve(
    context: typer.Context,
    host: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Address to listen on (app.host).")] = None,
    port: Annotated[int | None, typer.Option(metavar="PORT", help="Port to listen on (app.port).")] = None,
    open_browser: Annotated[bool, typer.Option("--open/--no-open", help="Open the browser.")] = True,
) -> None:
    """Chat in the browser."""
    with starting():
        from condensery.ui.launch import run as launch

    given = {name: value for name, value in {"host": host, "port": port}.items() if value is not None}
    launch(context.obj.settings(app=given), open_browser=open_browser)


app.command(epilog=examples("condensery agents", "condensery agents --json"))(agents)
app.command(epilog=examples("condensery classify --agent tickets 'My parcel never came'"))(classify)
app.command(epilog=examples("condensery draw rag --format svg --output rag.svg"))(draw)
app.command(
    epilog=examples(
        "condensery worker", "condensery worker --once", "CONDENSERY_MEMORY__IN_PROCESS=false condensery app"
    )
)(worker)


def main() -> None:
    """The entry point of the `condensery` program."""
    arguments = globals_first(sys.argv[1:])
    prepare_streams()
    with readable_errors(debug=debugging(arguments)):
        app(arguments, prog_name="condensery")
