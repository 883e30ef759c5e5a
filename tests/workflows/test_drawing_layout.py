"""The layout of drawings, for any graph: nothing overlaps, and lines go round what they do not belong to."""

import os
import subprocess
import sys
from collections.abc import Callable
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from condensery.agents.rag import RAGAgent
from condensery.workflows.drawing.arrangement import arrange
from condensery.workflows.drawing.graph import EventNode, FlowGraph, StepNode, Tone, graph_of
from condensery.workflows.drawing.layout import Box, Layout, Line, layout_of
from condensery.workflows.drawing.linear import Apart, Pull, place
from condensery.workflows.drawing.ordering import crossings, orders
from condensery.workflows.drawing.rows import loops, rows_of
from condensery.workflows.drawing.shapes import path, width_of
from condensery.workflows.drawing.tracks import Bus, tracks_of


@st.composite
def graphs(draw: st.DrawFn) -> FlowGraph:
    """Graphs with joins, loops, parts that nothing leads to, and parts that hang together in no way."""
    names = [f"Event{number}" for number in range(draw(st.integers(2, 7)))]
    some = st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True)
    steps = []
    for number in range(draw(st.integers(1, 6))):
        needs = tuple((name,) for name in draw(some))
        steps.append(StepNode(f"step_{number}", "", needs, tuple(draw(some)), Tone.NEITHER))
    used = {name for step in steps for name in (*step.accepts, *step.gives)}
    events = [EventNode(name, "", draw(st.sampled_from(Tone)), False) for name in names if name in used]
    return FlowGraph("Any", "", tuple(steps), tuple(events))


def laid_out(graph: FlowGraph) -> Layout:
    steps = {step.name: (width_of("step", step.name), 34.0) for step in graph.steps}
    return layout_of(graph, steps | {event.name: (width_of("event", event.name), 22.0) for event in graph.events})


def overlap(one: Box, other: Box) -> bool:
    across = abs(one.x - other.x) < (one.width + other.width) / 2
    return across and abs(one.y - other.y) < (one.height + other.height) / 2


def pieces(line: Line) -> list[Box]:
    """The straight pieces of a line as boxes without breadth, but for what merely touches."""
    found = []
    for (x, y), (u, v) in pairwise(line.points):
        found.append(Box((x + u) / 2, (y + v) / 2, max(abs(x - u) - 1, 0), max(abs(y - v) - 1, 0)))
    return found


def through_boxes(layout: Layout) -> list[tuple[str, str, str]]:
    """Lines and the boxes they run through."""
    return [
        (line.source, line.target, name)
        for line in layout.lines
        for name, box in layout.boxes.items()
        if any(overlap(piece, box) for piece in pieces(line))
    ]


Stretch = tuple[float, float, float]
"""A straight piece of a line: the coordinate that stays, and where the other one starts and ends."""


def on_top(layout: Layout, stretches: Callable[[Line], list[Stretch]]) -> list[tuple[Line, Line]]:
    """Lines of different events that lie on each other in some stretch."""
    pairs = ((one, other) for one, other in combinations(layout.lines, 2) if one.event != other.event)
    return [(one, other) for one, other in pairs if any(meet(a, b) for a in stretches(one) for b in stretches(other))]


def level(line: Line) -> list[Stretch]:
    return [(y, min(x, u), max(x, u)) for (x, y), (u, v) in pairwise(line.points) if y == v]


def upright(line: Line) -> list[Stretch]:
    return [(x, min(y, v), max(y, v)) for (x, y), (u, v) in pairwise(line.points) if abs(x - u) <= 0.5]


def meet(one: Stretch, other: Stretch) -> bool:
    return abs(one[0] - other[0]) < 2 and one[1] < other[2] and other[1] < one[2]


@settings(max_examples=50, deadline=None)
@given(graphs())
def test_in_any_graph_nothing_overlaps_and_every_link_is_drawn(graph: FlowGraph) -> None:
    layout = laid_out(graph)
    assert not [pair for pair in combinations(layout.boxes, 2) if overlap(*(layout.boxes[name] for name in pair))]
    assert through_boxes(layout) == []
    assert on_top(layout, level) == []
    assert sorted((line.source, line.target) for line in layout.lines) == sorted(set(graph.links()))
    for line in layout.lines:
        check(line, layout)


def check(line: Line, layout: Layout) -> None:
    """A line runs level or upright, from one's lower edge to the other's upper edge, upwards only to close a loop."""
    source, target = layout.boxes[line.source], layout.boxes[line.target]
    (start, upper), (end, lower) = line.points[0], line.points[-1]
    assert (upper, lower) == (source.bottom, target.top)
    assert abs(start - source.x) <= source.width / 2
    assert abs(end - target.x) <= target.width / 2
    assert line.loop == (source.y > target.y)
    for (x, y), (u, v) in pairwise(line.points):
        assert abs(x - u) <= 0.5 or y == v
        assert v >= y or line.loop
        assert 0 <= u <= layout.width
        assert 0 <= v <= layout.height


@settings(max_examples=60, deadline=None)
@given(graphs())
def test_no_circle_is_left_without_the_links_that_close_loops(graph: FlowGraph) -> None:
    links = list(dict.fromkeys(graph.links()))
    back = loops(links)
    left = [link for link in links if link not in back]
    while left:
        ending = {target for _, target in left} - {source for source, _ in left}
        assert ending
        left = [link for link in left if link[1] not in ending]


@settings(max_examples=20, deadline=None)
@given(graphs())
def test_the_orders_that_are_found_have_no_more_crossings_than_the_order_given(graph: FlowGraph) -> None:
    found = arrange(graph, dict.fromkeys(graph.names, 60.0))
    down = [hop for hop in found.hops if found.rows.row[hop.a] != found.rows.row[hop.b]]
    rows = rows_of(graph).listed()
    pairs: list[list[tuple[str, str]]] = [[] for _ in rows[1:]]
    for hop in dict.fromkeys(down):
        upper, lower = (hop.a, hop.b) if found.rows.row[hop.a] < found.rows.row[hop.b] else (hop.b, hop.a)
        pairs[hop.gap].append((upper, lower))
    counts = {crossings(order, pairs) for order in orders(rows, down)}
    assert len(counts) == 1
    assert counts.pop() <= crossings(rows, pairs)


def test_the_agents_own_words_are_to_the_left_of_what_comes_of_the_question() -> None:
    graph = graph_of(RAGAgent)
    boxes = laid_out(graph).boxes
    left, right = (boxes[name].x for name in ("HistoryLimited", "SearchRequest"))
    assert left < right


def test_no_lines_of_the_agent_lie_on_each_other() -> None:
    layout = laid_out(graph_of(RAGAgent))
    assert on_top(layout, level) + on_top(layout, upright) == []


def test_the_agents_drawing_fits_a_screen_and_a_page() -> None:
    layout = laid_out(graph_of(RAGAgent))
    assert layout.width < 1000
    assert layout.height < 1300


def test_what_comes_later_in_a_turn_stands_lower() -> None:
    boxes = laid_out(graph_of(RAGAgent)).boxes
    later = ["ChatStart", "condense", "CondensedQuestion", "retrieve", "rerank", "judge_context", "compose", "answer"]
    heights = [boxes[name].y for name in [*later, "remember", "finish", "TurnFinished"]]
    assert heights == sorted(heights)


def test_a_drawing_is_the_same_in_every_process() -> None:
    code = (
        "import sys; from condensery.workflows.drawing import draw; from condensery.agents.rag import RAGAgent;"
        "sys.stdout.write(draw(RAGAgent, format='svg'))"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code], env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    ]
    assert runs[0].startswith(b"<svg")
    assert runs[0] == runs[1]


def test_points_are_placed_as_near_to_where_they_should_be_as_they_may() -> None:
    apart = [Apart("a", "b", 10), Apart("b", "c", 10)]
    assert place(["a", "b", "c"], apart, [Pull([("a", 0.0), ("c", 0.0)], 1)]) == {"a": 0, "b": 10, "c": 20}
    found = place(["a", "b", "c"], apart, [Pull([("a", 30.0), ("c", 0.0)], 1)])
    assert found["c"] - found["a"] == 30


def test_points_that_are_to_be_apart_in_a_circle_cannot_be_placed() -> None:
    with pytest.raises(ValueError, match="cannot be placed"):
        place(["a", "b"], [Apart("a", "b", 1), Apart("b", "a", 1)], [Pull([("a", 0.0), ("b", 0.0)], 1)])


def test_lines_that_would_lie_on_each_other_get_tracks_that_keep_them_apart() -> None:
    down = Bus("Down", frozenset({50.0}), frozenset({100.0}))
    across = Bus("Across", frozenset({0.0}), frozenset({50.0}))
    tracks = tracks_of([across, down])
    assert tracks["Down"] < tracks["Across"]
    assert tracks_of([Bus("Falls", frozenset({1.0}), frozenset({1.2}))]) == {}
    far = Bus("Far", frozenset({300.0}), frozenset({400.0}))
    assert tracks_of([across, far]) == {"Across": 0, "Far": 0}


def test_a_path_has_round_corners_and_no_points_that_do_not_turn() -> None:
    assert path([(0, 0), (0, 10), (0, 20)]) == "M0 0L0 20"
    assert path([(0, 0), (0, 20), (20, 20), (20, 40)]) == "M0 0L0 14Q0 20 6 20L14 20Q20 20 20 26L20 40"
