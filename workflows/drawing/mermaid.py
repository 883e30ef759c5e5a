"""A workflow's graph as Mermaid text, for places that draw it themselves, such as a README."""

from collections.abc import Iterator

from condensery.workflows.drawing import texts
from condensery.workflows.drawing.graph import FlowGraph, StepNode, Tone
from condensery.workflows.drawing.rows import loops
from condensery.workflows.drawing.style import BRIGHT


def mermaid_of(graph: FlowGraph) -> str:
    """The drawing as a Mermaid flowchart: events are pills, steps are boxes, and joins say so."""
    return "\n".join(["flowchart TD", *(f"    {line}" for line in _lines(graph))]) + "\n"


def _lines(graph: FlowGraph) -> Iterator[str]:
    present = [tone for tone in Tone if any(event.tone is tone for event in graph.events)]
    for event in graph.events:
        yield f'{event.name}(["{event.name}"]):::{event.tone}'
    for step in graph.steps:
        yield f"{step.name}{_box(step)}:::{step.tone}Step"
    links = list(dict.fromkeys(graph.links()))
    back = loops(links)
    for source, target in links:
        yield f"{source} {'-.->' if (source, target) in back else '-->'} {target}"
    yield "subgraph legend [ ]"
    yield from (f'    legend_{tone}(["{texts.CARRIES[tone]}"]):::{tone}' for tone in present)
    yield "end"
    yield "style legend fill:none,stroke:none"
    for tone in present:
        fill, text, line = (BRIGHT[name] for name in (f"{tone}-fill", f"{tone}-text", tone))
        yield f"classDef {tone} fill:{fill},color:{text},stroke:{line}"
    for tone in sorted({step.tone for step in graph.steps}):
        yield f"classDef {tone}Step fill:{BRIGHT[f'{tone}-step']},color:{BRIGHT['ink']},stroke:{BRIGHT[tone]}"


def _box(step: StepNode) -> str:
    return f'[["{step.name}<br><i>{texts.JOIN}</i>"]]' if step.joins else f'["{step.name}"]'
