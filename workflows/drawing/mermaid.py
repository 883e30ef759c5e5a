"""A workflow's graph as Mermaid text, for places that draw it themselves, such as a README."""

from collections.abc import Iterator

from condensery.workflows.drawing import texts
from condensery.workflows.drawing.graph import FlowGraph, StepNode, Tone
from condensery.workflows.drawing.rows import loops

COLOURS = {
    Tone.OWN: "fill:#c2570c,color:#ffffff,stroke:#c2570c",
    Tone.QUESTION: "fill:#e3f2fd,color:#0a4f80,stroke:#0b72b9",
    Tone.NEITHER: "fill:#f1f5f9,color:#334155,stroke:#64748b",
}
STEPS = {
    Tone.OWN: "fill:#fff4e8,color:#0f172a,stroke:#c2570c",
    Tone.QUESTION: "fill:#ffffff,color:#0f172a,stroke:#0b72b9",
    Tone.NEITHER: "fill:#ffffff,color:#0f172a,stroke:#64748b",
}

RESERVED = {"call", "class", "classdef", "click", "default", "end", "flowchart", "graph", "legend", "style", "subgraph"}
"""Names that Mermaid does not take for a node, and the one that is taken."""


def mermaid_of(graph: FlowGraph) -> str:
    """The drawing as a Mermaid flowchart: events are pills, steps are boxes, and joins say so."""
    return "\n".join(["flowchart TD", *(f"    {line}" for line in _lines(graph))]) + "\n"


def _lines(graph: FlowGraph) -> Iterator[str]:
    present = [tone for tone in Tone if any(event.tone is tone for event in graph.events)]
    for event in graph.events:
        yield f'{_id(event.name)}(["{event.name}"]):::{event.tone}'
    for step in graph.steps:
        yield f"{_id(step.name)}{_box(step)}:::{step.tone}Step"
    links = list(dict.fromkeys(graph.links()))
    back = loops(links)
    for source, target in links:
        yield f"{_id(source)} {'-.->' if (source, target) in back else '-->'} {_id(target)}"
    yield "subgraph legend [ ]"
    yield from (f'    legend_{tone}(["{texts.event_legend(graph, tone)}"]):::{tone}' for tone in present)
    yield "end"
    yield "style legend fill:none,stroke:none"
    yield from (f"classDef {tone} {COLOURS[tone]}" for tone in present)
    yield from (f"classDef {tone}Step {STEPS[tone]}" for tone in Tone if any(step.tone is tone for step in graph.steps))


def _id(name: str) -> str:
    return f"{name}_" if name.lower() in RESERVED else name


def _box(step: StepNode) -> str:
    return f'[["{step.name}<br><i>{texts.JOIN}</i>"]]' if step.joins else f'["{step.name}"]'
