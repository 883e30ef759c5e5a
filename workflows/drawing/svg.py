"""A workflow's graph as one SVG that needs nothing else: no font, no script, no style from anywhere."""

from collections.abc import Iterator, Mapping
from html import escape

from condensery.workflows.drawing import shapes, texts
from condensery.workflows.drawing.graph import EventNode, FlowGraph, StepNode
from condensery.workflows.drawing.layout import Box, Layout, Line, Size, layout_of
from condensery.workflows.drawing.legend import WIDTH, head_of
from condensery.workflows.drawing.resources import stylesheet

SPACE = "http://www.w3.org/2000/svg"
MARGIN = 24.0
EVENT, STEP, TIMED = 22.0, 34.0, 44.0
"""Heights in pixels: of an event, a step, and a step with its time."""

Times = Mapping[str, float]


def svg_of(graph: FlowGraph, *, times: Times | None = None) -> str:
    """The drawing; with `times`, in milliseconds by step, each step shows its own and steps without one are faint."""
    layout = layout_of(graph, _sizes(graph, timed=times is not None))
    width = max(layout.width, WIDTH)
    head = head_of(graph, width, loops=any(line.loop for line in layout.lines))
    left, down = (width - layout.width) / 2, head.height + 18
    inside = "".join(_drawn(graph, layout, times))
    style = stylesheet("drawing.css") + "".join(_focus(graph))
    return (
        f"{_opening(graph, width + 2 * MARGIN, down + layout.height + 2 * MARGIN)}<style>{style}</style>"
        f'<rect class="paper" width="100%" height="100%"/><g transform="translate({MARGIN:g} {MARGIN:g})">{head.svg}'
        f'<g class="graph" transform="translate({shapes.number(left)} {shapes.number(down)})">{inside}</g></g></svg>'
    )


def _opening(graph: FlowGraph, width: float, height: float) -> str:
    right, bottom = shapes.number(width), shapes.number(height)
    size = f'viewBox="0 0 {right} {bottom}" width="{right}" height="{bottom}"'
    return f'<svg class="drawing" role="group" aria-label="{escape(graph.name)}" xmlns="{SPACE}" {size}>'


def _sizes(graph: FlowGraph, *, timed: bool) -> dict[str, Size]:
    steps = {step.name: (shapes.width_of("step", step.name), TIMED if timed else STEP) for step in graph.steps}
    return steps | {event.name: (shapes.width_of("event", event.name), EVENT) for event in graph.events}


def _focus(graph: FlowGraph) -> Iterator[str]:
    """Pointing at a step or an event leaves only its own lines strong."""
    for name in graph.names:
        here = f".drawing:has(#node-{name}:is(:hover, :focus-visible))"
        yield f"{here} .graph :is(.line, .tip):not(.at-{name}) {{ opacity: 0.13; }}\n"


def _drawn(graph: FlowGraph, layout: Layout, times: Times | None) -> Iterator[str]:
    for event in graph.events:
        yield from _lines(event, [line for line in layout.lines if line.event == event.name])
    for event in graph.events:
        yield _event(event, layout.boxes[event.name], graph)
    for step in graph.steps:
        yield _step(step, layout, times)


def _lines(event: EventNode, lines: list[Line]) -> Iterator[str]:
    """All lines of an event, over those drawn before: where they cross, these run on top."""
    drawn = [(line, shapes.path(line.points)) for line in sorted(lines, key=lambda line: not line.loop)]
    halos = "".join(f'<path class="halo" d="{path}"/>' for _, path in drawn)
    yield f'<g class="{event.tone}">{halos}{"".join(_line(line, path) for line, path in drawn)}</g>'


def _line(line: Line, path: str) -> str:
    ends = f"at-{line.source} at-{line.target}"
    tips = shapes.tip(*line.points[-1], ends)
    if line.loop:
        (x, low), (_, high) = line.points[2], line.points[3]
        tips += shapes.tip(x, (low + high) / 2, ends, up=True)
    return f'<path class="line {"loop " if line.loop else ""}{ends}" d="{path}"/>{tips}'


def _event(event: EventNode, box: Box, graph: FlowGraph) -> str:
    title = texts.tooltip(event.name, event.doc, texts.facts_of_event(event, graph))
    body = shapes.rect(box, box.height / 2, "body")
    inside = f"{title}{body}{shapes.name('event', event.name, box.x, box.y)}"
    kind = f"event {event.tone}{' person' if event.by_person else ''}"
    return f'<g class="node {kind}" id="node-{event.name}" role="img" tabindex="0">{inside}</g>'


def _step(step: StepNode, layout: Layout, times: Times | None) -> str:
    box = layout.boxes[step.name]
    title = texts.tooltip(step.name, step.doc, texts.facts_of_step(step))
    took = None if times is None else times.get(step.name)
    parts = [title, shapes.rect(box, 5, "body")]
    parts.append(shapes.name("step", step.name, box.x, box.y if took is None else box.y - 8))
    if took is not None:
        parts.append(shapes.text("time", milliseconds(took), box.x, box.y + 13))
    if step.joins:
        parts.append(shapes.bar(box.x - box.width / 2, box.x + box.width / 2, box.top))
    idle = " idle" if times is not None and took is None else ""
    return f'<g class="node step {step.tone}{idle}" id="node-{step.name}" role="img" tabindex="0">{"".join(parts)}</g>'


def milliseconds(took: float) -> str:
    """A time for people: "0.4 ms", "12 ms", "1.3 s"."""
    if took >= 1000:
        return f"{took / 1000:.1f} s"
    return f"{took:.0f} ms" if took >= 10 else f"{took:.1f} ms"
