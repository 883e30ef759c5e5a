"""The follow-up questions over the example documents, answered without a model."""

import json
from pathlib import Path
from typing import cast

import pytest

from condensery.app import App, open_app
from condensery.settings import Settings
from condensery.workflows.events import AgentCall, TurnFinished
from condensery.workflows.turn import Exchange, Turn, TurnKey, TurnOptions

FIXTURE = Path(__file__).parents[1] / "evals" / "fixtures" / "follow_ups.json"
CONTROLS = {"topic_shift", "standalone"}

Case = dict[str, object]


def one_line(text: str) -> str:
    return " ".join(text.split())


def right_evidence_first(case: Case, turn: Turn) -> bool:
    return bool(turn.evidence) and str(case["sentence"]) in one_line(turn.evidence[0].chunk.text)


def right_sentence_quoted(case: Case, turn: Turn) -> bool:
    return any(str(case["sentence"]) in one_line(citation.quote or "") for citation in turn.citations)


@pytest.fixture
async def answered(corpus_settings: Settings) -> list[tuple[Case, Turn]]:
    """Each conversation with the turn that its last message became."""
    cases: list[Case] = json.loads(FIXTURE.read_text(encoding="utf-8"))
    async with open_app(corpus_settings) as app:
        return [(case, await turn_of(app, start_of(case))) for case in cases]


async def turn_of(app: App, start: AgentCall) -> Turn:
    return cast(TurnFinished, await app.agent.run(start_event=start)).turn


def start_of(case: Case) -> AgentCall:
    history = tuple(Exchange.model_validate(exchange) for exchange in case["history"])  # type: ignore[attr-defined]
    key = TurnKey(turn_id=str(case["name"]), conversation_id=str(case["name"]))
    return AgentCall(key=key, message=str(case["message"]), history=history, options=TurnOptions())


async def test_follow_ups_get_the_right_evidence_first_and_the_right_sentence_quoted(
    answered: list[tuple[Case, Turn]],
) -> None:
    follow_ups = [(case, turn) for case, turn in answered if case["kind"] not in CONTROLS]
    wrong = [
        case["name"]
        for case, turn in follow_ups
        if not (right_evidence_first(case, turn) and right_sentence_quoted(case, turn))
    ]
    assert len(wrong) <= 7, wrong


async def test_a_message_that_stands_alone_is_not_disturbed_by_its_history(answered: list[tuple[Case, Turn]]) -> None:
    controls = [(case, turn) for case, turn in answered if case["kind"] in CONTROLS]
    assert [turn.question for _, turn in controls] == [None] * len(controls)
    found = [right_evidence_first(case, turn) for case, turn in controls]
    assert sum(found) >= len(controls) - 1
