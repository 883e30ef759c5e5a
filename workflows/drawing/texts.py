"""What a drawing says in words: the legend, and what a step or an event is about."""

from html import escape

from condensery.workflows.drawing.graph import EventNode, FlowGraph, StepNode, Tone

CARRIES = {
    Tone.OWN: "carries the user's own words",
    Tone.QUESTION: "carries the standalone question only, or what came of it",
    Tone.NEITHER: "carries neither",
}

SEES = {
    Tone.OWN: "a step that reads the user's own words",
    Tone.QUESTION: "a step that never sees them",
    Tone.NEITHER: "a step that sees neither",
}

JOIN = "waits for one of each"
LOOP = "goes round again"


def first_paragraph(doc: str) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join(doc.split("\n\n")[0].split())


def takes(step: StepNode) -> str:
    """What a step waits for."""
    return " and ".join(" or ".join(group) for group in step.needs)


def gives(step: StepNode) -> str:
    """What may come of a step."""
    return " or ".join(step.gives) or "nothing"


def facts_of_step(step: StepNode) -> list[tuple[str, str]]:
    """What there is to say of a step: (what, text)."""
    return [("takes", takes(step)), ("gives", gives(step)), ("sees", SEES[step.tone])]


def facts_of_event(event: EventNode, graph: FlowGraph) -> list[tuple[str, str]]:
    """What there is to say of an event: (what, text)."""
    givers = [step.name for step in graph.steps if event.name in step.gives]
    takers = [step.name for step in graph.steps if event.name in step.accepts]
    sides = [("comes from", ", ".join(givers) or "outside"), ("goes to", ", ".join(takers) or "outside")]
    return [*sides, ("carries", CARRIES[event.tone].removeprefix("carries "))]


def tooltip(name: str, doc: str, facts: list[tuple[str, str]]) -> str:
    """The same as a `<title>`."""
    lines = [name, *([first_paragraph(doc)] if doc else []), *(f"{what}: {text}" for what, text in facts)]
    return f"<title>{escape(chr(10).join(lines))}</title>"
