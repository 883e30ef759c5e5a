"""What a drawing says in words: the legend, and what a step or an event is about."""

from html import escape

from condensery.workflows.drawing.graph import EventNode, FlowGraph, StepNode, Tone

CARRIED = {
    Tone.OWN: "the user's own words",
    Tone.QUESTION: "the standalone question only, or what came of it",
    Tone.NEITHER: "neither the user's own words nor the question",
}
EVENTS = {tone: f"carries {what}" for tone, what in CARRIED.items()}
STEPS = {
    Tone.OWN: "a step that reads the user's own words",
    Tone.QUESTION: "a step that never sees them",
    Tone.NEITHER: "a step that sees neither",
}
OUTSIDE = "outside the workflow"

JOIN = "waits for one of each"
LOOP = "goes round again"
PERSON = "goes to a person, or comes from one"


def event_legend(graph: FlowGraph, tone: Tone) -> str:
    """What the colour of an event means in this drawing."""
    return EVENTS[tone] if _telling(graph) else "an event"


def step_legend(graph: FlowGraph, tone: Tone) -> str:
    """What the colour of a step means in this drawing."""
    return STEPS[tone] if _telling(graph) else "a step"


def _telling(graph: FlowGraph) -> bool:
    """Whether the colours tell anything: not in a workflow that has neither own words nor a question."""
    return any(event.tone is not Tone.NEITHER for event in graph.events)


def first_paragraph(doc: str) -> str:
    """The first paragraph of a docstring, on one line, without its marks of code."""
    return " ".join(doc.split("\n\n")[0].split()).replace("`", "")


def takes(step: StepNode) -> str:
    """What a step waits for."""
    return " and ".join(" or ".join(group) for group in step.needs)


def gives(step: StepNode) -> str:
    """What may come of a step."""
    return " or ".join(step.gives) or "nothing"


def facts_of_step(step: StepNode) -> list[tuple[str, str]]:
    """What there is to say of a step: (what, text)."""
    return [("takes", takes(step)), ("gives", gives(step)), ("sees", CARRIED[step.tone])]


def facts_of_event(event: EventNode, graph: FlowGraph) -> list[tuple[str, str]]:
    """What there is to say of an event: (what, text)."""
    givers = [step.name for step in graph.steps if event.name in step.gives]
    takers = [step.name for step in graph.steps if event.name in step.accepts]
    sides = [("comes from", ", ".join(givers) or OUTSIDE), ("goes to", ", ".join(takers) or OUTSIDE)]
    return [*sides, ("carries", CARRIED[event.tone])]


def tooltip(name: str, doc: str, facts: list[tuple[str, str]]) -> str:
    """The same as a `<title>`."""
    lines = [name, *([first_paragraph(doc)] if doc else []), *(f"{what}: {text}" for what, text in facts)]
    return f"<title>{escape(chr(10).join(lines))}</title>"
