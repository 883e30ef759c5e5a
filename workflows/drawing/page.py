"""The drawing as a web page of its own: it tells more of whatever is pointed at, and prints with all of that below."""

from collections.abc import Iterator
from html import escape

from condensery.workflows.drawing import texts
from condensery.workflows.drawing.graph import EventNode, FlowGraph, StepNode
from condensery.workflows.drawing.style import MONO, SANS
from condensery.workflows.drawing.svg import Times, svg_of

STYLE = (
    ":root{color-scheme:light dark;--paper:#fff;--ink:#0f172a;--faint:#526077;--edge:#d5dce7}"
    "@media screen and (prefers-color-scheme:dark){:root{--paper:#0f1420;--ink:#e8edf5;--faint:#9aa8bd;--edge:#2c3850}}"
    f"body{{margin:0;background:var(--paper);color:var(--ink);font:14px/1.45 {SANS}}}"
    "main{display:flex;justify-content:center;align-items:flex-start;gap:8px;padding:12px}"
    "svg.drawing{flex:0 1 auto;max-width:100%;height:auto}"
    "aside{flex:0 0 270px;position:sticky;top:24px;margin-top:24px}"
    ".card,.hint{border-left:3px solid var(--edge);padding:2px 0 2px 14px}.hint,dt{color:var(--faint)}"
    f"h2{{margin:0 0 6px;font:600 15px {MONO}}}.card p{{margin:0 0 8px}}dl{{margin:0}}"
    f"dt{{font-size:12px}}dd{{margin:0 0 6px;font:13px/1.4 {MONO};overflow-wrap:anywhere}}"
    "@media screen{.card{display:none}body:has(.node:is(:hover,:focus-visible)) .hint{display:none}}"
    "@media screen and (max-width:900px){main{display:block}aside{position:fixed;inset:auto 0 0;margin:0;padding:12px 16px;"
    "background:var(--paper);border-top:1px solid var(--edge)}}"
    "@media print{main{display:block;padding:0}svg.drawing{display:block;margin:auto;width:100%;max-height:98vh;"
    "break-after:page}.hint{display:none}aside{columns:3;margin:0}.card{break-inside:avoid;margin-bottom:14px}"
    "@page{margin:12mm}}"
)

HINT = "Point at a step or an event, or go there with the Tab key, to see what it takes and gives."


def page_of(graph: FlowGraph, *, times: Times | None = None) -> str:
    """The page; it loads nothing, and runs no script."""
    cards = "".join((*(_step(step) for step in graph.steps), *(_event(event, graph) for event in graph.events)))
    show = "".join(_shown(node.name) for node in (*graph.steps, *graph.events))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(graph.name)}</title><style>{STYLE}@media screen{{{show}}}</style></head>"
        f'<body><main>{svg_of(graph, times=times)}<aside><p class="hint">{HINT}</p>{cards}</aside></main></body></html>\n'
    )


def _shown(name: str) -> str:
    return f"body:has(#{name}:is(:hover,:focus-visible)) #{name}-card{{display:block}}"


def _step(step: StepNode) -> str:
    return _card(step.name, step.doc, texts.facts_of_step(step))


def _event(event: EventNode, graph: FlowGraph) -> str:
    return _card(event.name, event.doc, texts.facts_of_event(event, graph))


def _card(name: str, doc: str, facts: list[tuple[str, str]]) -> str:
    about = f"<p>{escape(texts.first_paragraph(doc))}</p>" if doc else ""
    listed = "".join(_facts(facts))
    return f'<section class="card" id="{name}-card"><h2>{escape(name)}</h2>{about}<dl>{listed}</dl></section>'


def _facts(facts: list[tuple[str, str]]) -> Iterator[str]:
    yield from (f"<dt>{escape(what)}</dt><dd>{escape(text)}</dd>" for what, text in facts)
