"""Commands about agents: the declarations of `condensery agents`, `classify` and `draw`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from condensery.terminal.running import run, starting

Agent = Annotated[
    str | None,
    typer.Option("--agent", metavar="NAME", help="One of `condensery agents`; without it, the default agent."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else on stdout.")]


class Picture(StrEnum):
    """What `draw` can make."""

    HTML = "html"
    SVG = "svg"
    MERMAID = "mermaid"


def agents(context: typer.Context, as_json: Json = False) -> None:
    """List the agents: the default one, and those that condensery.toml declares as [agents.NAME].

    All of them are checked: exit code 2, with every reason, when one cannot be used.
    """
    with starting():
        from condensery.terminal.agents import show_agents

    run(show_agents(context.obj, as_json=as_json))


def classify(
    context: typer.Context,
    text: Annotated[list[str], typer.Argument(metavar="TEXT", help="What to label; - reads it from stdin.")],
    agent: Annotated[str, typer.Option("--agent", metavar="NAME", help="An agent of the kind few_shot.")],
    as_json: Json = False,
) -> None:
    """Label a text by the examples of an agent; nothing is searched, remembered or stored.

    Exit code 0: labelled; 3: there was nothing to label.
    """
    with starting():
        from condensery.terminal.agents import show_label
        from condensery.terminal.asking import question_from

    run(show_label(question_from(text), context.obj, agent=agent, as_json=as_json))


def draw(
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="The name of an agent, such as rag.")],
    form: Annotated[Picture, typer.Option("--format", help="What to draw.")] = Picture.MERMAID,
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="Where to write it; stdout otherwise.")] = None,
) -> None:
    """Draw the steps of an agent."""
    from condensery.terminal.listing import draw

    draw(agent, form=form.value, output=output)
