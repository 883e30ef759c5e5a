"""A turn as the page shows it: Chainlit's steps and elements. One source for what is live and what is reloaded."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

from chainlit.element import ElementDict
from chainlit.step import StepDict

from condensery.prompts.loader import Prompts
from condensery.retrieval.types import ScoredChunk
from condensery.ui.markdown import prose, verbatim, without_directives
from condensery.ui.passages import file_name, passage
from condensery.workflows.turn import Citation, Outcome, StageRecord, Turn

NAME = "Condensery"
UNANSWERED = "unanswered."


@dataclass(frozen=True)
class Place:
    """Where the steps of one turn hang: their ids begin with `turn`, all but the message are children of `run`."""

    thread_id: str
    turn: str
    run: str
    at: str

    @property
    def trace(self) -> str:
        """The id of the step that holds the stages."""
        return f"{self.turn}.trace"

    @property
    def answer(self) -> str:
        """The id of the answer's message."""
        return f"{self.turn}.answer"

    def step(self, id_: str, parent: str | None, type_: str, name: str, **more: Any) -> StepDict:
        """A finished step with no text of its own, but for what `more` says."""
        where = {"id": id_, "threadId": self.thread_id, "parentId": parent, "type": type_, "name": name}
        what = {"input": "", "output": "", "streaming": False, "isError": False, "metadata": {}, "showInput": False}
        when = {"createdAt": self.at, "start": self.at, "end": self.at}
        return cast(StepDict, {**where, **what, **when, **more})


class Transcript:
    """Turns to steps, in one language."""

    def __init__(self, prompts: Prompts) -> None:
        self._prompts = prompts

    def steps(self, turn: Turn) -> list[StepDict]:
        """A finished turn: the message, the trace with its stages, the answer."""
        turn_id, at = turn.key.turn_id, turn.created_at.isoformat()
        place = Place(turn.key.conversation_id, turn_id, f"{turn_id}.run", at)
        stages = [self.stage(place, number, record) for number, record in enumerate(turn.stages)]
        trace = [self.trace(place, turn), *stages] if stages else []
        return [*self.asked(place, turn.message), *trace, self.answer(place, self.text(turn))]

    def notice(self, thread_id: str, text: str) -> StepDict:
        """Something to know before the first question. A message would hide the questions to begin with."""
        place = Place(thread_id, "notice", "", datetime.now(UTC).isoformat())
        name = text.replace("`", "")  # a step's name is no Markdown
        return place.step(f"notice.{thread_id}", None, "undefined", name, metadata={"icon": "info"})

    def asked(self, place: Place, message: str) -> list[StepDict]:
        """The person's message, and the run that everything after it belongs to."""
        said = place.step(f"{place.turn}.message", None, "user_message", "User", output=message)
        return [said, place.step(place.run, said["id"], "run", "on_message")]

    def unanswered(self, thread_id: str, messages: Sequence[str], at: datetime) -> list[StepDict]:
        """Messages that are being answered; `is_unanswered` knows their steps."""
        ids = [f"{UNANSWERED}{number}" for number in range(len(messages))]
        places = [Place(thread_id, id_, f"{id_}.run", at.isoformat()) for id_ in ids]
        return [step for place, text in zip(places, messages, strict=True) for step in self.asked(place, text)]

    def trace(self, place: Place, turn: Turn, *, running: bool = False) -> StepDict:
        """The line above the answer: what was searched for when it is more than the message, and what degraded."""
        question = turn.question or (self._prompts.text("ui.lent") if turn.lent else None)
        title = f"{self._prompts.text('ui.searched_for')}: {question}" if question else self._prompts.text("ui.steps")
        icon = {"metadata": {"icon": "search" if question else "list"}}
        end = {"end": None} if running else {}
        return place.step(place.trace, place.run, "tool", title + self._notes(turn), **icon, **end)

    def _notes(self, turn: Turn) -> str:
        """Why the question was not rewritten, in the person's language, and what else degraded at which stage."""
        notes = [self._prompts.not_rewritten(turn.fallback)] if turn.fallback else []
        told = "condense" if turn.fallback else None
        notes += [f"{each.stage}: {each.note}" for each in turn.stages if each.degraded and each.stage != told]
        return "".join(f" · ⚠ {note}" for note in notes)

    def stage(self, place: Place, number: int, record: StageRecord, shown: str = "") -> StepDict:
        """One stage with its time, when it degraded, why, and what it made up or recalled, which is never stored."""
        name = f"{record.stage} · {_duration(record.ms)}" + (f" · {record.note}" if record.note else "")
        more = {"output": verbatim(shown)} if shown else {}
        where = f"{place.trace}.{number}"
        return place.step(where, place.trace, "undefined", name, isError=record.degraded, **more)

    def answer(self, place: Place, text: str, *, streaming: bool = False) -> StepDict:
        """The answer's message."""
        return place.step(place.answer, place.run, "assistant_message", NAME, output=text, streaming=streaming)

    def text(self, turn: Turn) -> str:
        """The answer as Markdown: marked when it was stopped, with the files it cites."""
        as_markdown = prose if turn.answer_mode == "extractive" else without_directives
        return self.marked(as_markdown(turn.answer), turn.citations, stopped=turn.outcome is Outcome.STOPPED)

    def marked(self, answer: str, citations: Sequence[Citation], *, stopped: bool) -> str:
        """`answer`, which is Markdown, with the mark of a stopped one and the list of its sources."""
        parts = [answer.rstrip()] if answer.strip() else []
        if stopped:
            parts.append(f"*{self._prompts.text('ui.stopped')}*")
        if sources := sorted({citation.number: self._source(citation) for citation in citations}.items()):
            parts.append(f"{self._prompts.text('ui.sources')}: " + " · ".join(source for _, source in sources))
        return "\n\n".join(parts)

    def elements(
        self, place: Place, citations: Sequence[Citation], evidence: Sequence[ScoredChunk]
    ) -> list[ElementDict]:
        """The passages that open beside the chat; Chainlit links an element's name wherever the answer holds it.

        Whenever there are new ones, it also opens a list of all of them, which nobody asked for: `style.css` hides
        what holds more than one passage (an empty one at the end makes every list long enough) until it is closed.
        """
        numbers = sorted({citation.number for citation in citations if citation.number <= len(evidence)})
        passages = [self._element(place, number, citations, evidence[number - 1]) for number in numbers]
        return [*passages, _side(place, "list", f"{place.answer}.list", "")] if passages else []

    def elements_of(self, turn: Turn) -> list[ElementDict]:
        """The passages of a finished turn."""
        place = Place(turn.key.conversation_id, turn.key.turn_id, "", "")
        return self.elements(place, turn.citations, turn.evidence)

    def _element(self, place: Place, number: int, citations: Sequence[Citation], found: ScoredChunk) -> ElementDict:
        own = [citation for citation in citations if citation.number == number]
        return _side(place, str(number), f"[{number}]", passage(found.chunk, own, self._prompts))

    def _source(self, citation: Citation) -> str:
        page = f", {self._prompts.text('ui.page', page=str(citation.page))}" if citation.page is not None else ""
        return f"[{citation.number}] {verbatim(file_name(citation.source))}{page}"


def _side(place: Place, key: str, name: str, text: str) -> ElementDict:
    """The text travels in the address: nothing to store, nothing to fetch, the same after a reload."""
    data = base64.b64encode(text.encode()).decode()
    return ElementDict(
        id=f"{place.answer}.{key}",
        threadId=place.thread_id,
        forId=place.answer,
        type="text",
        name=name,
        display="side",
        mime="text/markdown",
        url=f"data:text/markdown;charset=utf-8;base64,{data}",
    )


def is_unanswered(step: StepDict) -> bool:
    """Whether this step belongs to a message that was still being answered."""
    return step["id"].startswith(UNANSWERED)


def _duration(ms: float) -> str:
    if ms < 1000:
        return f"{ms:.1f} ms" if ms < 10 else f"{ms:.0f} ms"
    return f"{ms / 1000:.1f} s"
