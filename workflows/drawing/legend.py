"""The head of a drawing: whose it is, and what its colours and shapes mean."""

from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import wrap

from condensery.workflows.drawing import shapes, texts
from condensery.workflows.drawing.graph import FlowGraph, Tone
from condensery.workflows.drawing.layout import Box

SAMPLE, ROW, LINE = 40.0, 22.0, 17.0
LEFT, RIGHT = 400.0, 300.0
WIDTH = LEFT + RIGHT
"""Pixels: the width of a sample, the heights of a row and of a line of text, the columns' widths, and their sum."""

LETTER = 6.2
"""The width in pixels of a letter of running text, on the large side."""


@dataclass(frozen=True)
class Head:
    """The head as SVG text, and its height in pixels."""

    svg: str
    height: float


def head_of(graph: FlowGraph, width: float, *, loops: bool) -> Head:
    """Title, description and legend, `width` pixels wide."""
    parts = [shapes.text("title", graph.name, 0, 20)]
    y = 42.0
    for line in wrap(texts.first_paragraph(graph.doc), int(width / LETTER)):
        parts.append(shapes.text("note", line, 0, y))
        y += LINE
    columns = list(_events(graph)), [*_steps(graph), *_lines(graph, loops=loops)]
    for x, column in zip((0.0, LEFT), columns, strict=True):
        for number, (sample, words) in enumerate(column):
            at = y + 6 + ROW * number
            parts.append(f'<g transform="translate({x:g} {at:g})">{sample}</g>')
            parts.append(shapes.text("note", words, x + SAMPLE + 10, at + 4))
    return Head("".join(parts), y + 6 + ROW * max(map(len, columns)) - 6)


def _events(graph: FlowGraph) -> Iterator[tuple[str, str]]:
    pill = shapes.rect(Box(SAMPLE / 2, 0, SAMPLE, 14), 7, "body")
    for tone in _present(event.tone for event in graph.events):
        yield f'<g class="event {tone}">{pill}</g>', texts.event_legend(graph, tone)
    if any(event.by_person for event in graph.events):
        yield f'<g class="event person {Tone.NEITHER}">{pill}</g>', texts.PERSON


def _steps(graph: FlowGraph) -> Iterator[tuple[str, str]]:
    box = shapes.rect(Box(SAMPLE / 2, 0, SAMPLE, 14), 3, "body")
    for tone in _present(step.tone for step in graph.steps):
        yield f'<g class="step {tone}">{box}</g>', texts.step_legend(graph, tone)


def _lines(graph: FlowGraph, *, loops: bool) -> Iterator[tuple[str, str]]:
    if any(step.joins for step in graph.steps):
        yield shapes.bar(0, SAMPLE, 0), texts.JOIN
    if loops:
        line = f'<g class="{Tone.NEITHER}"><path class="line loop" d="M0 0H{SAMPLE:g}"/></g>'
        yield line, texts.LOOP


def _present(tones: Iterator[Tone]) -> list[Tone]:
    found = set(tones)
    return [tone for tone in Tone if tone in found]
