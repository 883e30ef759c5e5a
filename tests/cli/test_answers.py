"""What the terminal says of a search while the answer is on its way."""

import pytest

from condensery.prompts.loader import prompts_for
from condensery.retrieval.types import Probe
from condensery.terminal.answers import TurnView
from condensery.workflows.events import CondensedQuestion
from condensery.workflows.turn import FallbackReason, TurnKey


def said(
    capsys: pytest.CaptureFixture[str],
    locale: str,
    *,
    condensed: bool,
    fallback: FallbackReason | None,
    probes: tuple[Probe, ...] = (),
) -> str:
    question = CondensedQuestion(
        key=TurnKey(turn_id="t", conversation_id="c"),
        question="What does a bicycle cost?",
        max_chars=512,
        engine="condense_context",
        condensed=condensed,
        fallback=fallback,
        probes=probes,
    )
    view = TurnView(prompts_for(locale))
    view.see(question)
    view.close()
    return capsys.readouterr().out


def test_what_is_searched_for_is_told_when_it_differs_from_the_message(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "en", condensed=True, fallback=None) == "Searched for: What does a bicycle cost?\n"
    assert said(capsys, "en", condensed=False, fallback=None) == ""


def test_a_search_that_the_last_turns_lend_to_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    probes = (Probe(text="What does a bicycle cost?"), Probe(text="And a dog?", dense=0.2))
    told = said(capsys, "en", condensed=False, fallback=None, probes=probes)
    assert told == "Searched for: your words, together with the last turns\n"


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
