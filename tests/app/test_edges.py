"""What callers, models and windows can do that a turn must bear."""

from pathlib import Path
from typing import Any

import pytest

from condensery.errors import ConfigError
from condensery.testing import ScriptedLLM
from condensery.tests.app.helpers import BreaksOff, OpenApp, events_of, finished
from condensery.workflows.turn import Outcome


async def test_a_model_never_answers_from_nothing(corpus_app: OpenApp) -> None:
    llm = ScriptedLLM("Six francs [1].")
    async with corpus_app(llm, llm={"context_window": 256, "max_output_tokens": 64}) as app:
        app.services.model.context_window = 256  # type: ignore[union-attr]
        turn = await app.ask("How much is a ticket for a dog?")
    assert llm.calls == []
    assert (turn.answer_mode, turn.outcome) == ("extractive", Outcome.ANSWERED)
    assert "6 francs" in turn.answer
    assert any("no passage fits" in (record.note or "") for record in turn.stages)


async def test_an_answer_that_breaks_off_is_kept_and_said_to_have_broken_off(corpus_app: OpenApp) -> None:
    async with corpus_app(BreaksOff("A dog pays six francs [1].")) as app:
        turn = finished(await events_of(app, "How much is a ticket for a dog?"))
    assert (turn.outcome, turn.reason) == (Outcome.FAILED, "broken_off")
    assert turn.answer.startswith("A dog pay")
    assert "in the middle of the answer" in turn.answer


async def test_what_no_text_may_hold_leaves_the_message(corpus_app: OpenApp) -> None:
    async with corpus_app() as app:
        turn = await app.ask("How much is a ticket\x00 for a dog\ud800?")
    assert "6 francs" in turn.answer
    assert all(record.note is None for record in turn.stages)


@pytest.mark.parametrize(
    "options",
    [
        {"user_id": "ann\x00"},
        {"user_id": "\ud800"},
        {"user_id": ""},
        {"user_id": "  "},
        {"conversation_id": "c\x00"},
        {"conversation_id": "x" * 600},
        {"conversation_id": 5},
        {"filters": {"bad key": "x"}},
    ],
)
async def test_a_wrong_option_is_told_in_words(corpus_app: OpenApp, options: dict[str, Any]) -> None:
    async with corpus_app() as app:
        with pytest.raises(ConfigError):
            await app.ask("How much is a ticket for a dog?", **options)


async def test_a_namespace_and_a_path_may_be_given_as_strings(corpus_app: OpenApp, tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("# Note\n\nThe kiosk opens at seven.")
    async with corpus_app() as app:
        assert (await app.ask("How much is a ticket for a dog?", namespaces="default")).outcome is Outcome.ANSWERED
        assert (await app.ingest(str(tmp_path / "note.md"))).added == ("note.md",)


async def test_a_question_in_another_language_than_the_documents_finds_nothing_rather_than_anything(
    corpus_app: OpenApp,
) -> None:
    async with corpus_app() as app:
        turn = await app.ask("Wann fährt die letzte Bahn?")
    assert turn.reason == "nothing_found"
