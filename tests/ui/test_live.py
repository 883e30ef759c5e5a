"""A turn on the page while it happens, and what the page shows of it after a reload."""

from collections.abc import Callable
from typing import Any

import pytest

from condensery.prompts.loader import prompts_for
from condensery.retrieval.types import Chunk, ScoredChunk
from condensery.ui.live import LiveTurn
from condensery.ui.transcript import Place, Transcript
from condensery.workflows.events import (
    AnswerDelta,
    CondensedQuestion,
    EvidenceReady,
    HypothesisMade,
    StageFinished,
    TurnEvent,
    TurnFinished,
)
from condensery.workflows.partial import PartialTurn
from condensery.workflows.turn import FallbackReason, Outcome, StageRecord, Turn, TurnKey

KEY = TurnKey(turn_id="t", conversation_id="thread")
CHUNK = ScoredChunk(chunk=Chunk(id="k", text="It costs 9 francs.", source="tariffs.md"), score=1.0)


class FakePage:
    """Keeps what a browser would show: steps by id, the answer as it grows, and elements."""

    def __init__(self) -> None:
        self.steps: dict[str, Any] = {}
        self.elements: list[Any] = []

    async def send_step(self, step: Any) -> None:
        self.steps[step["id"]] = step

    async def stream_start(self, step: Any) -> None:
        self.steps[step["id"]] = step

    async def send_token(self, id: str, token: str) -> None:
        self.steps[id]["output"] += token

    async def send_element(self, element: Any) -> None:
        self.elements.append(element)

    @property
    def trace(self) -> str:
        return str(self.steps["t.trace"]["name"])

    @property
    def answer(self) -> str:
        return str(self.steps["t.answer"]["output"])


def question(**fields: Any) -> CondensedQuestion:
    whole = {"key": KEY, "question": "How much is a bicycle?", "max_chars": 512, "engine": "simple", "condensed": True}
    return CondensedQuestion(**(whole | fields))


async def shown(*events: TurnEvent, locale: str = "en") -> tuple[FakePage, LiveTurn]:
    page = FakePage()
    live = LiveTurn(page, Transcript(prompts_for(locale)), Place("thread", "t", "run", ""), "How much?")  # type: ignore[arg-type]
    for event in events:
        await live.show(event)
    return page, live


def reloaded(turn: Turn, locale: str = "en") -> tuple[str, str]:
    """The line above the answer, and the answer, as they are made from a stored turn."""
    steps = {step["id"]: step for step in Transcript(prompts_for(locale)).steps(turn)}
    return str(steps["t.trace"]["name"]), str(steps["t.answer"]["output"])


ANSWERING: tuple[TurnEvent, ...] = (
    question(),
    StageFinished(record=StageRecord(stage="condense", ms=1.0)),
    EvidenceReady(chunks=(CHUNK,), mode="generated"),
    AnswerDelta(text="It costs "),
    AnswerDelta(text="9 francs [1]."),
)


async def test_what_is_searched_for_is_shown_as_soon_as_it_is_known() -> None:
    page, _ = await shown(question())
    assert page.trace == "Searched for: How much is a bicycle?"


async def test_the_message_itself_is_not_announced() -> None:
    page, _ = await shown(question(condensed=False))
    assert page.trace == "Steps"


@pytest.mark.parametrize(
    ("locale", "told"),
    [
        ("en", "Searched without a rewritten question: rewriting the question took too long"),
        ("de", "Ohne umformulierte Frage gesucht: das Umformulieren der Frage hat zu lange gedauert"),
        ("fr", "Recherche sans question reformulée : la reformulation de la question a pris trop de temps"),
        ("it", "Ho cercato senza una domanda riformulata: la riformulazione della domanda ha richiesto troppo tempo"),
    ],
)
async def test_a_fallback_is_told_in_the_persons_language_live_and_after_a_reload(locale: str, told: str) -> None:
    record = StageRecord(stage="condense", ms=20.0, note="condense_context: timed_out", degraded=True)
    events = (question(condensed=False, fallback=FallbackReason.TIMED_OUT), StageFinished(record=record))
    page, _ = await shown(*events, locale=locale)
    assert page.trace.endswith(f" · ⚠ {told}")
    assert "timed_out" not in page.trace
    assert reloaded(_turn(events, Outcome.STOPPED), locale)[0] == page.trace


@pytest.mark.parametrize("reason", FallbackReason)
@pytest.mark.parametrize("locale", ["en", "de", "fr", "it"])
async def test_every_reason_has_words_in_every_language(locale: str, reason: FallbackReason) -> None:
    page, _ = await shown(question(condensed=False, fallback=reason), locale=locale)
    assert "⚠" in page.trace
    assert "_" not in page.trace


async def test_what_else_degraded_is_told_beside_it() -> None:
    notes = (
        StageRecord(stage="condense", ms=1, note="simple: error", degraded=True),
        StageRecord(stage="rerank", ms=1, note="slow", degraded=True),
    )
    page, _ = await shown(question(fallback=FallbackReason.ERROR), *(StageFinished(record=note) for note in notes))
    assert page.trace == (
        "Searched for: How much is a bicycle? · ⚠ Searched without a rewritten question: rewriting the question failed"
        " · ⚠ rerank: slow"
    )


async def _finish(live: LiveTurn, turn: Turn) -> None:
    await live.show(TurnFinished(turn=turn))


async def _stop(live: LiveTurn, turn: Turn) -> None:
    await live.stopped()


@pytest.mark.parametrize(("outcome", "end"), [(Outcome.ANSWERED, _finish), (Outcome.STOPPED, _stop)])
@pytest.mark.parametrize("mode", ["generated", "extractive"])
async def test_a_turn_looks_after_a_reload_as_it_looked_live(
    outcome: Outcome, end: Callable[..., Any], mode: str
) -> None:
    events = (*ANSWERING[:2], EvidenceReady(chunks=(CHUNK,), mode=mode), *ANSWERING[3:])
    page, live = await shown(*events)
    assert page.answer == "It costs 9 francs [1]."
    turn = _turn(events, outcome)
    await end(live, turn)
    assert (page.trace, page.answer) == reloaded(turn)
    assert ("(stopped)" in page.answer) == (outcome is Outcome.STOPPED)
    assert page.elements[0]["name"] == "[1]"


async def test_a_failure_is_told_below_what_there_is_of_the_answer() -> None:
    page, live = await shown(*ANSWERING)
    await live.failed("Please try again.")
    assert page.answer.startswith("It costs 9 francs [1].\n\nPlease try again.")
    page, live = await shown()
    await live.failed("Please try again.")
    assert page.answer == "Please try again."


def _turn(events: tuple[TurnEvent, ...], outcome: Outcome) -> Turn:
    partial = PartialTurn(KEY, "How much?")
    for event in events:
        partial.see(event)
    return partial.turn(outcome)


async def test_a_hypothetical_passage_is_shown_with_its_stage_whatever_ends_in_between() -> None:
    stages = [StageFinished(record=StageRecord(stage=name, ms=1)) for name in ("condense", "recall", "hypothesize")]
    page, _ = await shown(question(), stages[0], HypothesisMade(passage="Dogs pay."), *stages[1:])
    outputs = {step["name"].split(" ")[0]: step["output"] for id_, step in page.steps.items() if ".trace." in id_}
    assert outputs == {"condense": "", "recall": "", "hypothesize": r"Dogs pay\."}
