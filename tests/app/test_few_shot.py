"""Deciding by examples with the real embedding model: labels, and which questions are answered at all."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from condensery.agents.few_shot import FewShotAgent
from condensery.app import open_app
from condensery.errors import ConfigError, ProviderError
from condensery.prompts.loader import prompts_for
from condensery.settings import Settings, load_settings
from condensery.testing import ScriptedLLM
from condensery.tests.app.helpers import OpenApp, events_of, finished, kinds, notes, rows
from condensery.workflows.examples import read_examples
from condensery.workflows.few_shot import Example
from condensery.workflows.labelling import IN_PROMPT
from condensery.workflows.turn import Exchange, Outcome

ROOT = Path(__file__).parents[2]
EXAMPLES = read_examples(ROOT / "examples" / "classify.toml")
HELD_OUT = tomllib.loads((ROOT / "tests" / "workflows" / "held_out.toml").read_text())
GUARD = ROOT / "examples" / "guard.toml"

ASKED = [
    "How much is a ticket for a dog?",
    "When does the last car come down?",
    "Which vegetarian dishes are there?",
    "What is the notice period of a member?",
]
OFF_TOPIC = [
    "Compose a short poem about spring.",
    "Tell me something funny, a joke for instance.",
    "Should I invest my money in gold?",
    "My stomach hurts, what pills help?",
]


def chosen(label: str) -> str:
    return json.dumps({"label": label})


async def test_messages_that_no_example_repeats_get_the_label_a_person_gives_them(corpus_app: OpenApp) -> None:
    assert len(EXAMPLES) >= 60
    asked = [(label, text) for label, texts in HELD_OUT.items() for text in texts]
    assert {text for _, text in asked}.isdisjoint({example.text for example in EXAMPLES})
    async with corpus_app() as app:
        agent = FewShotAgent(app.services, EXAMPLES, use_model=False)
        right = [(await agent.classify_text(text)).label == label for label, text in asked]
    assert sum(right) / len(right) >= 0.85


async def test_a_label_comes_with_what_decided_it_and_nothing_is_stored(corpus_app: OpenApp) -> None:
    async with corpus_app() as app:
        found = await FewShotAgent(app.services, EXAMPLES).classify_text("Has somebody found my umbrella?")
        assert await rows(app, "SELECT * FROM turns") == []
        assert await rows(app, "SELECT * FROM outbox") == []
    assert (found.label, found.clear, found.by_model) == ("lost_property", True, False)
    assert found.confidence > 0.5
    assert {each.label for each in found.neighbours} == {"lost_property"}
    assert "umbrella" in found.neighbours[0].text
    assert found.neighbours[0].similarity >= found.neighbours[-1].similarity
    assert {"condense", "find_neighbours"} <= {record.stage for record in found.stages}


async def test_the_model_is_shown_examples_and_the_question_and_neither_history_nor_message(
    corpus_app: OpenApp,
) -> None:
    model = ScriptedLLM(chosen("timetable"))
    before = Exchange(message="When does the SECRETCAR go?", answer="At nine, says ZANZIBAR.")
    async with corpus_app(model, condense={"engine": "simple"}) as app:
        agent = FewShotAgent(app.services, EXAMPLES)
        found = await agent.classify_text("<doc>PASTED text</doc>\n\nAnd when on </message> Fridays?", [before])
    (call,) = model.calls
    assert (found.label, found.by_model) == ("timetable", True)
    assert found.question is not None
    assert "Fridays?" in call.text
    assert not [word for word in ("SECRETCAR", "ZANZIBAR", "PASTED") if word in call.text]
    assert call.text.count("</message>") == prompts_for("en").render(
        "classify", labels="", examples="", question=""
    ).count("</message>")
    shown = [line for line in call.text.splitlines() if line.startswith("- ")]
    assert IN_PROMPT <= len(shown) <= IN_PROMPT + len(HELD_OUT)
    assert {line[2:].partition(":")[0] for line in shown} == set(HELD_OUT)


async def test_where_model_and_neighbours_disagree_confidence_is_low_and_the_label_not_clear(
    corpus_app: OpenApp,
) -> None:
    async with corpus_app(ScriptedLLM(chosen("jobs"))) as app:
        found = await FewShotAgent(app.services, EXAMPLES).classify_text("Has somebody found my umbrella?")
    assert (found.label, found.by_model, found.clear) == ("jobs", True, False)
    assert found.confidence < 0.5
    assert {each.label for each in found.neighbours} == {"jobs"}


@pytest.mark.parametrize("reply", ["lost property, I think", chosen("weather"), ProviderError("the endpoint is away")])
async def test_a_model_that_names_no_label_leaves_it_to_the_neighbours(corpus_app: OpenApp, reply: Any) -> None:
    async with corpus_app(ScriptedLLM(reply)) as app:
        found = await FewShotAgent(app.services, EXAMPLES).classify_text("Has somebody found my umbrella?")
    assert (found.label, found.by_model) == ("lost_property", False)


async def test_a_paste_without_a_question_gets_no_label_but_a_reason(corpus_app: OpenApp) -> None:
    async with corpus_app() as app:
        found = await FewShotAgent(app.services, EXAMPLES).classify_text("WARN pump 3 pressure low\n" * 100)
    assert (found.label, found.reason, found.neighbours) == (None, "condensation_empty", ())


async def test_examples_that_cannot_be_told_apart_are_refused(corpus_app: OpenApp) -> None:
    async with corpus_app() as app:
        with pytest.raises(ConfigError, match="two labels at least"):
            FewShotAgent(app.services, [Example(label="only", text="one")])


@pytest.fixture
def guarded(corpus_settings: Settings) -> Settings:
    few_shot = corpus_settings.few_shot.model_copy(update={"guard_examples": GUARD, "seconds": 60})
    return corpus_settings.model_copy(update={"few_shot": few_shot})


async def test_what_is_like_the_rejected_is_refused_without_a_search(guarded: Settings) -> None:
    async with open_app(guarded) as app:
        for question in OFF_TOPIC:
            events = await events_of(app, question)
            turn = finished(events)
            assert (turn.outcome, turn.reason) == (Outcome.REFUSED, "rejected_by_guard"), question
            assert turn.answer == prompts_for("en").text("refusal.rejected_by_guard")
            assert turn.evidence == ()
            assert {"hypothesize", "retrieve", "rerank", "answer"}.isdisjoint({each.stage for each in turn.stages})
            assert kinds(events) == ["CondensedQuestion", "AnswerDelta", "TurnFinished"]
        able = await app.ask("What can you do?")
    assert prompts_for("en").text("meta.can_refuse") in able.answer


async def test_what_the_documents_are_asked_passes_the_guard_and_a_follow_up_too(guarded: Settings) -> None:
    async with open_app(guarded) as app:
        for question in ASKED:
            turn = await app.ask(question, conversation_id="c")
            assert turn.reason != "rejected_by_guard", question
            assert notes(turn)["few_shot_guard"].startswith("accepted: like accept")
        assert (await app.ask("Why?", conversation_id="c")).reason != "rejected_by_guard"


async def test_the_guard_can_be_switched_off_and_sharpened_while_the_app_runs(guarded: Settings) -> None:
    async with open_app(guarded) as app:
        await app.set_settings({"few_shot.margin": 2})
        assert (await app.ask(OFF_TOPIC[0])).reason != "rejected_by_guard"
        await app.set_settings({"few_shot.margin": 0.05, "few_shot.enabled": False})
        assert (await app.ask(OFF_TOPIC[0])).reason != "rejected_by_guard"
        await app.set_settings({"few_shot.enabled": True})
        assert (await app.ask(OFF_TOPIC[0])).reason == "rejected_by_guard"


async def test_examples_of_the_guard_that_are_not_there_keep_the_app_from_opening(corpus_settings: Settings) -> None:
    few_shot = corpus_settings.few_shot.model_copy(update={"guard_examples": Path("no-such-file.toml")})
    with pytest.raises(ConfigError, match=r"no-such-file.toml: the examples cannot be read"):
        async with open_app(corpus_settings.model_copy(update={"few_shot": few_shot})):
            pass


def test_the_examples_may_be_named_with_the_home_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CONDENSERY_FEW_SHOT__GUARD_EXAMPLES", "~/guard.toml")
    monkeypatch.chdir(tmp_path)
    assert load_settings().few_shot.guard_examples == tmp_path / "guard.toml"
