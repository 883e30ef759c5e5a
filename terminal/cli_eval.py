"""`condensery eval`: the declarations of its commands."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from condensery.terminal.running import run, starting

eval_app = typer.Typer(no_args_is_help=True, rich_markup_mode="rich", add_completion=False)


class WithJson(TyperCommand):
    """A command whose `--json` may stand alone: its file is then `-`, stdout."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Give a bare `--json` its value."""
        return super().parse_args(ctx, json_named(args))


def json_named(arguments: Sequence[str]) -> list[str]:
    """`arguments` with `-` after a `--json` that no file follows: an option, a folder of data, or nothing does."""
    named: list[str] = []
    for word, after in zip(arguments, [*arguments, ""][1:], strict=True):
        named.append(word)
        if word == "--json" and (not after or (after != "-" and after.startswith("-")) or Path(after).is_dir()):
            named.append("-")
    return named


def examples(*commands: str) -> str:
    """The end of a command's help."""
    return "\n\n".join(["Examples:", *(f"[bold]{command}[/bold]" for command in commands)])


Folder = Annotated[
    Path | None, typer.Argument(metavar="DIR", help="A folder of data; without one, the repository's own.")
]
Engines = Annotated[
    list[str] | None,
    typer.Option(
        "--engine", metavar="NAME", help="A chat engine to measure; repeatable. Without one: all that can run here."
    ),
]
Methods = Annotated[
    list[str] | None,
    typer.Option("--method", metavar="NAME", help="A retrieval method; repeatable. retrieval.method by default."),
]
Json = Annotated[
    str | None, typer.Option("--json", metavar="[FILE]", help="Write everything as JSON there; alone or -: on stdout.")
]
Plot = Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Draw the result: .svg, .png or .pdf.")]
Keep = Annotated[
    Path | None,
    typer.Option("--keep", metavar="FOLDER", help="Keep the index there, and use it again the next time."),
]
WithPeer = Annotated[
    bool, typer.Option("--peer", help="Measure LlamaIndex's CondensePlusContextChatEngine too, with the same model.")
]
Missing = Annotated[
    bool, typer.Option("--missing-facts", help="Count facts that no document holds as never found; go on.")
]


@eval_app.callback()
def evaluations() -> None:
    """Measure how well the right thing is found: on your own data, with every engine and method.

    Each command makes an index of the data in a Postgres of its own; your documents and conversations are not touched.
    Settings apply as everywhere else: [bold]CONDENSERY_LLM__MODEL=… condensery eval turns DIR[/bold]. Ctrl-C ends a
    measurement and shows what it has.
    """


@eval_app.command(
    cls=WithJson,
    epilog=examples(
        "condensery eval turns data/mtrag-un",
        "condensery eval turns DIR --engine simple --engine expand_context --method hybrid --json result.json",
        "condensery eval turns DIR --keep /var/tmp/index",
    ),
)
def turns(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder with passages.jsonl and turns.jsonl.")],
    engines: Engines = None,
    methods: Methods = None,
    json_file: Json = None,
    plot: Plot = None,
    keep: Keep = None,
    peer: WithPeer = False,
    whole: Annotated[
        bool, typer.Option("--whole", help="Index every passage as one chunk, whatever ingest.chunk_chars says.")
    ] = False,
) -> None:
    r"""Later turns of conversations, each with its history, and the passages that answer it.

    A line of passages.jsonl: {"id", "text"}. A line of turns.jsonl: {"id", "kind", "history": \[{"role", "content"}],
    "message", "relevant": \[ids]}. A passage is one result, though it may be indexed as several chunks: its best chunk
    counts. Shows nDCG@10, recall, hit@1, MRR, and the [bold]harm[/bold]: how many turns find worse than their raw
    message would.
    """
    with starting():
        from condensery.terminal.evaluating import Choice, evaluate

    choice = Choice("turns", folder, engines or (), methods or (), json_file, plot, keep, peer=peer, whole=whole)
    run(evaluate(choice, context.obj))


@eval_app.command(
    cls=WithJson,
    epilog=examples(
        "condensery eval chat",
        "condensery eval chat DIR --engine expand_context --json",
        "CONDENSERY_LLM__MODEL=model.gguf condensery eval chat --peer",
    ),
)
def chat(
    context: typer.Context,
    folder: Folder = None,
    engines: Engines = None,
    methods: Methods = None,
    json_file: Json = None,
    plot: Plot = None,
    keep: Keep = None,
    peer: WithPeer = False,
    missing: Missing = False,
) -> None:
    r"""Whole conversations over a corpus, every turn with the scripted replies as its history.

    DIR holds corpus/ with files to ingest and conversations/*.json: {"name", "turns": \[{"message", "kind",
    "assistant", "relevant": \[{"source", "fact"}]}]}. A fact is found by a chunk of that file that contains it.
    Kinds: standalone, topic_shift, pronoun, elliptical, correction, comparison, multi_part, long_paste.
    """
    with starting():
        from condensery.terminal.evaluating import Choice, evaluate

    choice = Choice("chat", folder, engines or (), methods or (), json_file, plot, keep, peer=peer, missing=missing)
    run(evaluate(choice, context.obj))


@eval_app.command(
    cls=WithJson, epilog=examples("condensery eval retrieval", "condensery eval retrieval DIR --engine simple --json")
)
def retrieval(
    context: typer.Context,
    folder: Folder = None,
    engine: Annotated[
        str | None, typer.Option("--engine", metavar="NAME", help="The chat engine before it (condense.engine).")
    ] = None,
    methods: Annotated[
        list[str] | None, typer.Option("--method", metavar="NAME", help="Another method than the seven; repeatable.")
    ] = None,
    json_file: Json = None,
    plot: Plot = None,
    keep: Keep = None,
    missing: Missing = False,
) -> None:
    """The ladder of retrieval on one engine: semantic, bm25, hybrid, reranked, HyDE on semantic and hybrid, both.

    DIR is data of either form. What cannot run here is named with the reason, such as a cross-encoder that is not on
    this disk, or a model that is too small to write a passage.
    """
    with starting():
        from condensery.terminal.evaluating import Choice, evaluate

    engines: Any = (engine,) if engine else ()
    choice = Choice("retrieval", folder, engines, methods or (), json_file, plot, keep, missing=missing)
    run(evaluate(choice, context.obj))


@eval_app.command(
    cls=WithJson,
    epilog=examples(
        "condensery eval latency",
        "CONDENSERY_LLM__MODEL=model.gguf condensery eval latency --engine condense_context --peer",
    ),
)
def latency(
    context: typer.Context,
    folder: Folder = None,
    engines: Engines = None,
    method: Annotated[str | None, typer.Option("--method", metavar="NAME", help="A retrieval method.")] = None,
    json_file: Json = None,
    keep: Keep = None,
    peer: WithPeer = False,
    most: Annotated[
        int,
        typer.Option("--conversations", min=0, metavar="N", help="So many, spread over the data; 0: all."),
    ] = 12,
    missing: Missing = False,
) -> None:
    """How long a person waits: until the search starts, and for the first piece of the answer.

    Turns run one at a time and are stopped at the first piece. With --peer, each conversation goes to every engine and
    to the peer in turn, with one model; the ratios say how our wait for follow-ups compares with the peer's.
    """
    with starting():
        from condensery.terminal.evaluating import Choice, evaluate

    choice = Choice(
        "latency", folder, engines or (), [method] if method else (), json_file, None, keep,
        peer=peer, conversations=most, missing=missing,
    )  # fmt: skip
    run(evaluate(choice, context.obj))


@eval_app.command(
    cls=WithJson,
    epilog=examples(
        "condensery eval memory",
        "condensery eval memory DIR --misses",
        "CONDENSERY_LLM__MODEL=model.gguf condensery eval memory --peer --json result.json",
    ),
)
def memory(
    context: typer.Context,
    folder: Folder = None,
    json_file: Json = None,
    peer: Annotated[
        bool, typer.Option("--peer", help="Measure mem0 by its own defaults too, with the same models.")
    ] = False,
    misses: Annotated[bool, typer.Option("--misses", help="List everything that went wrong.")] = False,
) -> None:
    r"""Dialogues of several sessions: what is remembered of a person, and what is recalled for later questions.

    DIR holds *.json: {"user", "sessions": \[\[{"message", "assistant", "context"}]], "facts": \[…], "superseded": \[…],
    "questions": \[{"ask", "fact"}]}. Shows the precision and recall of facts, whether the right one is recalled,
    whether what is no longer true is gone, and the facts kept per 100 turns that state none.
    """
    with starting():
        from condensery.terminal.evaluating_memory import MemoryChoice, evaluate_memory

    run(evaluate_memory(MemoryChoice(folder, json_file, peer=peer, misses=misses), context.obj))


@eval_app.command(
    cls=WithJson,
    epilog=examples("condensery eval guards", "condensery eval guards my.jsonl --documents ~/documents --misses"),
)
def guards(
    context: typer.Context,
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="Labelled questions; without one, the repository's own.")
    ] = None,
    documents: Annotated[
        list[Path] | None,
        typer.Option("--documents", metavar="PATH", help="What they are about; repeatable. examples/docs by default."),
    ] = None,
    json_file: Json = None,
    keep: Keep = None,
    misses: Annotated[bool, typer.Option("--misses", help="List everything that went wrong.")] = False,
) -> None:
    r"""Questions that the documents answer, and others: which are refused, or answered with a reservation.

    A line of FILE: {"question", "language", "label", "sources"}; label is answerable, partly, unanswerable or
    out_of_scope, sources (optional) names the documents that hold the answer. Shows precision and recall of
    [bold]insufficient[/bold], and how often all sources were found, with one search and with guard.max_hops.
    """
    with starting():
        from condensery.terminal.evaluating_guards import GuardChoice, evaluate_guards

    run(evaluate_guards(GuardChoice(file, tuple(documents or ()), json_file, keep, misses), context.obj))


@eval_app.command(epilog=examples("condensery eval plot turns.json chat.json --output results.svg"))
def plot(
    files: Annotated[list[Path], typer.Argument(metavar="RESULT", help="Files that --json wrote.")],
    output: Annotated[Path, typer.Option("--output", metavar="FILE", help="The picture: .svg, .png or .pdf.")],
) -> None:
    """Draw results that were written before, one below the other."""
    with starting():
        from condensery.terminal.evaluating import draw

    raise typer.Exit(draw(files, output))
