"""Drawings of workflows: complete, true to the steps, and nothing in them that has to be fetched."""

import re
from pathlib import Path
from typing import Any, get_args
from xml.etree import ElementTree as ET

import pytest
from llama_index.core.workflow import (
    Event,
    HumanResponseEvent,
    InputRequiredEvent,
    StartEvent,
    StopEvent,
    Workflow,
    step,
)

from condensery.agents.rag import RAGAgent
from condensery.agents.table import AGENTS, agent_class
from condensery.errors import ConfigError, UnknownName
from condensery.workflows.drawing import Format, draw
from condensery.workflows.drawing.graph import Tone, graph_of
from condensery.workflows.drawing.svg import milliseconds
from condensery.workflows.events import AnswerPrompt, CondensedQuestion

SPACE = "{http://www.w3.org/2000/svg}"
FORMATS: tuple[Format, ...] = get_args(Format)


class Opened(StartEvent):
    """The start <of all>."""


class Sorted(Event):
    """Put in order."""


class Sealed(Sorted):
    """Put in order, and closed."""


class Weighed(Event):
    """On the scales."""


class SignatureWanted(InputRequiredEvent):
    """A person is to sign."""


class Signed(HumanResponseEvent):
    """A person signed."""


class Sent(StopEvent):
    """On its way."""


class PostOffice(Workflow):
    """Sorts & sends.

    Not for parcels.
    """

    def __init__(self) -> None:
        raise AssertionError("a drawing needs no instance")

    @step
    async def receive(self, start: Opened) -> Sorted | Sealed | Weighed:
        """Takes a letter in.

        And keeps it.
        """
        raise NotImplementedError

    @step
    async def weigh(self, letter: Weighed) -> Weighed | SignatureWanted:
        raise NotImplementedError

    @step(accept_event_subclasses=True)
    async def send(self, letter: Sorted, name: Signed) -> Sent:
        raise NotImplementedError


class Idle(Workflow):
    """Has no steps."""


def drawn(**options: Any) -> ET.Element:
    return ET.fromstring(draw(PostOffice, format="svg", **options))  # noqa: S314 - our own text


@pytest.fixture(scope="module")
def agent() -> ET.Element:
    return ET.fromstring(draw(RAGAgent, format="svg"))  # noqa: S314


def nodes(svg: ET.Element, kind: str) -> dict[str, ET.Element]:
    """The groups of class `kind`, by the name that is written in them."""
    groups = [group for group in svg.iter(f"{SPACE}g") if kind in group.get("class", "").split()]
    return {
        name.text or "": group for group in groups if (name := group.find(f"{SPACE}text[@class='name']")) is not None
    }


def classes(svg: ET.Element, kind: str) -> dict[str, set[str]]:
    return {name: set(group.get("class", "").split()) for name, group in nodes(svg, kind).items()}


def texts(svg: ET.Element) -> set[str]:
    return {text.text or "" for text in svg.iter(f"{SPACE}text")}


def test_every_step_and_every_event_of_the_agent_is_drawn_once(agent: ET.Element) -> None:
    graph = graph_of(RAGAgent)
    written = [text.text or "" for text in agent.iter(f"{SPACE}text") if text.get("class") == "name"]
    assert sorted(written) == sorted(graph.names)
    assert {"condense", "retrieve", "judge_context", "finish"} <= nodes(agent, "step").keys()
    assert {"ChatStart", "CondensedQuestion", "Answered", "TurnFinished"} <= nodes(agent, "event").keys()


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", AGENTS)
def test_every_format_shows_every_step_and_event_of_every_agent(name: str, form: Format) -> None:
    picture = draw(AGENTS[name], format=form)
    assert [shown for shown in graph_of(AGENTS[name]).names if shown not in picture] == []


@pytest.mark.parametrize("form", FORMATS)
def test_a_drawing_loads_nothing(form: Format) -> None:
    picture = draw(RAGAgent, format=form).replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert re.findall(r"https?:|//\w|<script|<link|<img|<iframe|@import|url\(|src=|href=", picture) == []


@pytest.mark.parametrize("form", FORMATS)
def test_drawing_writes_no_file(form: Format, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    draw(RAGAgent, format=form)
    assert list(tmp_path.iterdir()) == []


def test_the_users_own_words_and_the_question_are_told_apart(agent: ET.Element) -> None:
    tones = {event.name: event.tone for event in graph_of(RAGAgent).events}
    own = {name for name, tone in tones.items() if tone is Tone.OWN}
    assert own == {"ChatStart", "HistoryLimited", "EnrichedHistory", "AnswerPrompt", "TurnFinished"}
    question = {"CondensedQuestion", "SearchRequest", "SearchProbe", "Retrieved", "Ranked", "ContextAccepted"}
    assert {tones[name] for name in question} == {Tone.QUESTION}
    assert {tones[name] for name in ("ChatCleared", "MetaQuestion")} == {Tone.NEITHER}
    assert all(tones[name] in kinds for name, kinds in classes(agent, "event").items())


def test_a_step_has_the_colour_of_the_most_telling_event_it_takes(agent: ET.Element) -> None:
    tones = {step.name: step.tone for step in graph_of(RAGAgent).steps}
    assert {tones[name] for name in ("gate", "condense", "enrich_history", "compose", "answer")} == {Tone.OWN}
    assert {tones[name] for name in ("retrieve", "rerank", "recall_user_memory", "remember")} == {Tone.QUESTION}
    assert tones["answer_meta"] is Tone.NEITHER
    assert all(tones[name] in kinds for name, kinds in classes(agent, "step").items())


def test_an_event_is_coloured_by_its_type_and_so_are_those_derived_from_it() -> None:
    class Copied(AnswerPrompt):
        pass

    class Copier(Workflow):
        @step
        async def copy_prompt(self, start: Opened) -> Copied:
            raise NotImplementedError

        @step
        async def post(self, prompt: Copied) -> Sent:
            raise NotImplementedError

    tones = {event.name: event.tone for event in graph_of(Copier).events}
    assert tones == {"Opened": Tone.NEITHER, "Copied": Tone.OWN, "Sent": Tone.OWN}


def test_what_a_person_replies_comes_of_the_question_that_they_were_asked() -> None:
    class Asker(Workflow):
        @step
        async def ask(self, question: CondensedQuestion) -> SignatureWanted:
            raise NotImplementedError

        @step
        async def hear(self, reply: Signed) -> Sent:
            raise NotImplementedError

    assert {event.name: event.tone for event in graph_of(Asker).events}["Signed"] is Tone.QUESTION
    assert {event.name: event.tone for event in graph_of(PostOffice).events}["Signed"] is Tone.NEITHER


def test_the_legend_says_what_the_colours_mean(agent: ET.Element) -> None:
    said = texts(agent)
    assert {"carries the user's own words", "waits for one of each", "goes round again"} <= said
    assert any(text.startswith("carries the standalone question only") for text in said)


def test_the_legend_of_a_workflow_without_a_question_does_not_speak_of_one() -> None:
    said = texts(drawn())
    assert {"an event", "a step", "goes to a person, or comes from one"} <= said
    assert not any("question" in text for text in said)


def test_joins_and_only_joins_have_a_bar(agent: ET.Element) -> None:
    steps = nodes(agent, "step")
    barred = {name for name, group in steps.items() if group.find(f"{SPACE}rect[@class='bar']") is not None}
    assert barred == {"condense", "enrich_history", "compose", "remember", "finish"}


def test_the_line_that_closes_a_loop_is_dashed(agent: ET.Element) -> None:
    loops = [path for path in agent.iter(f"{SPACE}path") if "loop" in path.get("class", "").split()]
    ends = [set(re.findall(r"at-(\w+)", path.get("class", ""))) for path in loops]
    assert [found for found in ends if found] == [{"judge_context", "SearchRequest"}]


def test_a_step_takes_what_is_derived_from_the_event_that_it_accepts() -> None:
    send = next(step for step in graph_of(PostOffice).steps if step.name == "send")
    assert send.needs == (("Sorted", "Sealed"), ("Signed",))
    assert {("Sealed", "send"), ("send", "Sent")} <= set(graph_of(PostOffice).links())


def test_events_that_a_person_gets_or_gives_are_marked() -> None:
    kinds = classes(drawn(), "event")
    assert {name for name, found in kinds.items() if "person" in found} == {"SignatureWanted", "Signed"}


def test_a_step_tells_what_it_does_and_what_it_takes_and_gives() -> None:
    told = {name: group.findtext(f"{SPACE}title") for name, group in nodes(drawn(), "node").items()}
    assert told["receive"] == (
        "receive\nTakes a letter in.\ntakes: Opened\ngives: Sorted or Sealed or Weighed\n"
        "sees: neither the user's own words nor the question"
    )
    assert "takes: Sorted or Sealed and Signed" in (told["send"] or "")
    assert "comes from: outside the workflow\ngoes to: receive" in (told["Opened"] or "")


def test_the_page_says_more_of_each_step_and_escapes_what_it_says() -> None:
    page = draw(PostOffice, format="html")
    assert "<p>The start &lt;of all&gt;.</p>" in page
    assert "<h2>weigh</h2><dl><dt>takes</dt><dd>Weighed</dd><dt>gives</dt><dd>Weighed or SignatureWanted</dd>" in page


def test_times_are_written_on_the_steps_and_steps_that_did_not_run_are_faint() -> None:
    svg = drawn(times={"receive": 1234.5, "weigh": 0.04})
    assert {"1.2 s", "0.0 ms"} <= texts(svg)
    assert {name for name, kinds in classes(svg, "step").items() if "idle" in kinds} == {"send"}
    assert [name for name, kinds in classes(drawn(), "step").items() if "idle" in kinds] == []


@pytest.mark.parametrize(("took", "said"), [(0.04, "0.0 ms"), (9.96, "10.0 ms"), (12.4, "12 ms"), (1000, "1.0 s")])
def test_times_are_given_as_precisely_as_they_matter(took: float, said: str) -> None:
    assert milliseconds(took) == said


def test_mermaid_text_has_every_link_and_dots_the_one_that_closes_a_loop() -> None:
    lines = {line.strip() for line in draw(RAGAgent, format="mermaid").splitlines()}
    links = {tuple(re.split(r" -->? ?| -\.-> ", line)) for line in lines if re.fullmatch(r"\w+ -[-.]+> \w+", line)}
    assert len(links) == len(set(graph_of(RAGAgent).links()))
    assert {"judge_context -.-> SearchRequest", "ChatStart --> gate"} <= lines
    assert 'ChatStart(["ChatStart"]):::own' in lines


def test_mermaid_text_avoids_the_words_that_mermaid_keeps_for_itself() -> None:
    class Reserved(Workflow):
        @step
        async def end(self, start: Opened) -> Sent:
            raise NotImplementedError

    lines = [line.strip() for line in draw(Reserved, format="mermaid").splitlines()]
    assert {'end_["end"]:::neitherStep', "Opened --> end_", "end_ --> Sent"} <= set(lines)
    assert lines.count("end") == 1  # of the legend


def test_a_workflow_without_steps_cannot_be_drawn() -> None:
    with pytest.raises(ConfigError, match="Idle has no steps to draw"):
        draw(Idle, format="svg")


def test_an_unknown_format_or_agent_names_the_choices() -> None:
    with pytest.raises(UnknownName, match="no drawing format 'png'; choose one of html, mermaid, svg"):
        draw(PostOffice, format="png")  # type: ignore[arg-type]
    with pytest.raises(
        UnknownName,
        match="no agent 'rga'; choose one of chat, expert_consultation, expert_rag, few_shot, memory_writer, rag",
    ):
        agent_class("rga")
    assert agent_class("rag") is RAGAgent
