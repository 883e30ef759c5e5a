"""What the terminal says of a search while the answer is on its way."""

import pytest

from condensery.prompts.loader import prompts_for
from condensery.terminal.answers import TurnView
from condensery.workflows.events import CondensedQuestion
from condensery.workflows.turn import FallbackReason, TurnKey


def said(capsys: pytest.CaptureFixture[str], locale: str, *, condensed: bool, fallback: FallbackReason | None) -> str:
    question = CondensedQuestion(
        key=TurnKey(turn_id="t", conversation_id="c"),
        question="What does a bicycle cost?",
        max_chars=512,
        engine="condense_context",
        condensed=condensed,
        fallback=fallback,
    )
    view = TurnView(prompts_for(locale))
    view.see(question)
    view.close()
    return capsys.readouterr().out


def test_what_is_searched_for_is_told_when_it_differs_from_the_message(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "en", condensed=True, fallback=None) == "Searched for: What does a bicycle cost?\n"
    assert said(capsys, "en", condensed=False, fallback=None) == ""


@pytest.mark.parametrize(
    ("locale", "told"),
    [
        ("en", "Searched without a rewritten question: there is no model to rewrite the question"),
        ("de", "Ohne umformulierte Frage gesucht: zum Umformulieren der Frage fehlt ein Modell"),
        ("fr", "Recherche sans question reformulée : il n'y a pas de modèle pour reformuler la question"),
        ("it", "Ho cercato senza una domanda riformulata: non c'è un modello per riformulare la domanda"),
    ],
)
def test_why_a_question_was_not_rewritten_is_told_in_the_persons_language(
    capsys: pytest.CaptureFixture[str], locale: str, told: str
) -> None:
    assert said(capsys, locale, condensed=False, fallback=FallbackReason.NO_MODEL) == f"{told}\n"
