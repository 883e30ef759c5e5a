"""The drawing as a web page of its own: it tells more of whatever is pointed at, and prints with all of that below."""

from collections.abc import Iterator
from html import escape

from condensery.workflows.drawing import texts
from condensery.workflows.drawing.graph import EventNode, FlowGraph, StepNode
from condensery.workflows.drawing.resources import stylesheet
from condensery.workflows.drawing.svg import Times, svg_of

HINT = "Point at a step or an event, or go there with the Tab key, to see what it takes and gives."


def page_of(graph: FlowGraph, *, times: Times | None = None) -> str:
    """The page; it loads nothing, and runs no script."""
    cards = "".join((*(_step(step) for step in graph.steps), *(_event(event, graph) for event in graph.events)))
    style = stylesheet("page.css") + "".join(map(_shown, graph.names))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(graph.name)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n"
        f'{svg_of(graph, times=times)}<aside>\n<p class="hint">{HINT}</p>\n{cards}</aside>\n</main>\n</body>\n</html>\n'
    )


def _shown(name: str) -> str:
    here = f"body:has(#node-{name}:is(:hover, :focus-visible))"
    return f"@media screen {{ {here} #card-{name} {{ display: block; }} }}\n"


def _step(step: StepNode) -> str:
    return _card(step.name, step.doc, texts.facts_of_step(step))


def _event(event: EventNode, graph: FlowGraph) -> str:
    return _card(event.name, event.doc, texts.facts_of_event(event, graph))


def _card(name: str, doc: str, facts: list[tuple[str, str]]) -> str:
    about = f"<p>{escape(texts.first_paragraph(doc))}</p>" if doc else ""
    listed = "".join(_facts(facts))
    return f'<section class="card" id="card-{name}"><h2>{escape(name)}</h2>{about}<dl>{listed}</dl></section>\n'


def _facts(facts: list[tuple[str, str]]) -> Iterator[str]:
    yield from (f"<dt>{escape(what)}</dt><dd>{escape(text)}</dd>" for what, text in facts)
