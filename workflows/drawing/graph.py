"""The graph of a workflow class: its steps and the events between them, read off the class without making one."""

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from types import NoneType

from llama_index.core.workflow import HumanResponseEvent, InputRequiredEvent, StopEvent, Workflow
from llama_index.core.workflow.decorators import StepConfig  # type: ignore[attr-defined]
from llama_index.core.workflow.utils import get_steps_from_class  # type: ignore[attr-defined]

from condensery.errors import ConfigError
from condensery.workflows.events import OWN_WORDS, CondensedQuestion

EventType = type[object]
Needs = dict[str, list[list[EventType]]]
Gives = dict[str, list[EventType]]
Link = tuple[str, str]


class Tone(StrEnum):
    """What an event carries, and so what a step that accepts it can see."""

    OWN = "own"
    QUESTION = "question"
    NEITHER = "neither"


@dataclass(frozen=True)
class EventNode:
    """An event type. `by_person` tells that the run waits for a person: it is the request, or the reply."""

    name: str
    doc: str
    tone: Tone
    by_person: bool


@dataclass(frozen=True)
class StepNode:
    """A step: it waits for one event of each group in `needs`, and gives one of `gives`."""

    name: str
    doc: str
    needs: tuple[tuple[str, ...], ...]
    gives: tuple[str, ...]
    tone: Tone

    @property
    def joins(self) -> bool:
        """Whether it waits for more than one event."""
        return len(self.needs) > 1

    @property
    def accepts(self) -> tuple[str, ...]:
        """The names of all events it takes, whatever their group."""
        return tuple(name for group in self.needs for name in group)


@dataclass(frozen=True)
class FlowGraph:
    """The steps and events of the workflow class `name`, events in the order in which steps mention them."""

    name: str
    doc: str
    steps: tuple[StepNode, ...]
    events: tuple[EventNode, ...]

    @property
    def names(self) -> list[str]:
        """The names of all steps and events."""
        return [*(step.name for step in self.steps), *(event.name for event in self.events)]

    def links(self) -> Iterator[Link]:
        """Every (event, step) and (step, event) pair of names."""
        for step in self.steps:
            yield from ((event, step.name) for event in step.accepts)
            yield from ((step.name, event) for event in step.gives)


def graph_of(workflow: type[Workflow]) -> FlowGraph:
    """The graph of `workflow`; raises `ConfigError` when it has no steps."""
    steps = _steps(workflow)
    if not steps:
        raise ConfigError(f"{workflow.__name__} has no steps to draw; decorate its methods with @step")
    gives = {name: [kind for kind in config.return_types if kind is not NoneType] for name, _, config in steps}
    given = [kind for kinds in gives.values() for kind in kinds]
    needs = {name: _needs(config, given) for name, _, config in steps}
    kinds = list(dict.fromkeys([kind for groups in needs.values() for group in groups for kind in group] + given))
    tones = _tones(kinds, needs, gives)
    return FlowGraph(
        workflow.__name__,
        _own_doc(workflow),
        tuple(_step(name, doc, needs[name], gives[name], tones) for name, doc, _ in steps),
        tuple(_event(kind, tones[kind]) for kind in kinds),
    )


def _steps(workflow: type[Workflow]) -> list[tuple[str, str, StepConfig]]:
    """Name, docstring and declaration of each step, in the order of the base classes, and as written there."""
    steps = get_steps_from_class(workflow)
    written = [name for base in workflow.__mro__ for name in vars(base) if name in steps]
    return [(name, inspect.getdoc(steps[name]) or "", steps[name]._step_config) for name in dict.fromkeys(written)]


def _needs(config: StepConfig, given: list[EventType]) -> list[list[EventType]]:
    """What a step waits for, one list of alternatives per parameter."""
    params = [[kind] for _, kind in config.collect_params] if config.collect_params else [list(config.accepted_events)]
    if not config.accept_event_subclasses:
        return params
    return [[found for kind in group for found in _arriving(kind, given)] for group in params]


def _arriving(accepted: EventType, given: list[EventType]) -> list[EventType]:
    """`accepted`, or what of it the steps give; an end of the run is never handed to a step."""
    below = [kind for kind in given if issubclass(kind, accepted) and not issubclass(kind, StopEvent)]
    return list(dict.fromkeys(below)) or [accepted]


def _tones(kinds: list[EventType], needs: Needs, gives: Gives) -> dict[EventType, Tone]:
    own = {kind for kind in kinds if any(issubclass(kind, declared) for declared in OWN_WORDS)}
    # What ends a run is handed to the caller, with all that the step which ends it has seen.
    seeing = [name for name, groups in needs.items() if any(own.intersection(group) for group in groups)]
    own |= {kind for name in seeing for kind in gives[name] if issubclass(kind, StopEvent)}
    after = _after_the_question(needs, gives)
    return {kind: Tone.OWN if kind in own else Tone.QUESTION if kind in after else Tone.NEITHER for kind in kinds}


def _after_the_question(needs: Needs, gives: Gives) -> set[EventType]:
    """`CondensedQuestion` and every event that can come of it; a person who is asked gives some reply."""
    accepted = {kind for groups in needs.values() for group in groups for kind in group}
    replies = {kind for kind in accepted if issubclass(kind, HumanResponseEvent)}
    reached: set[EventType] = {CondensedQuestion}
    while True:
        fed = [name for name, groups in needs.items() if any(reached.intersection(group) for group in groups)]
        grown = reached.union(*(gives[name] for name in fed))
        if any(issubclass(kind, InputRequiredEvent) for kind in grown):
            grown |= replies
        if grown == reached:
            return reached
        reached = grown


def _step(
    name: str, doc: str, needs: list[list[EventType]], gives: list[EventType], tones: dict[EventType, Tone]
) -> StepNode:
    seen = {tones[kind] for group in needs for kind in group}
    groups = tuple(tuple(kind.__name__ for kind in group) for group in needs)
    return StepNode(name, doc, groups, tuple(kind.__name__ for kind in gives), next(t for t in Tone if t in seen))


def _event(kind: EventType, tone: Tone) -> EventNode:
    by_person = issubclass(kind, (InputRequiredEvent, HumanResponseEvent))
    return EventNode(kind.__name__, _own_doc(kind), tone, by_person)


def _own_doc(kind: EventType) -> str:
    """The docstring of the class itself; its base's would describe something else."""
    return inspect.cleandoc(vars(kind).get("__doc__") or "")
