"""The language of a message, of those that there are texts for."""

import json
from collections import Counter
from pathlib import Path

import pytest

from condensery.workflows.languages import spoken

FIXTURES = Path(__file__).parents[2] / "evals" / "fixtures"


@pytest.mark.parametrize(
    ("message", "locale"),
    [
        ("Was kostet das?", "de"),
        ("Und für Kinder?", "de"),
        ("Öffnungszeiten", "de"),
        ("And for children?", "en"),
        ("Why?", "en"),
        ("Et pour les enfants ?", "fr"),
        ("Où est la gare ?", "fr"),
        ("Quanto costa il biglietto?", "it"),
        ("Dove?", "it"),
        ('Come si dice "Where is the next bus stop, please?"', "it"),
        ("Et comment traduire en français : « Wo ist bitte die nächste Haltestelle? »", "fr"),
        ("Ich habe den Report im Dashboard gelesen, was heisst churn rate?", "de"),
    ],
)
def test_a_short_question_tells_its_language(message: str, locale: str) -> None:
    assert spoken(message, default="xx") == locale


@pytest.mark.parametrize(
    "message", ["12?", "🙂", "", "DN100?", "¿Cuánto cuesta el billete?", "料金はいくらですか", "Hoeveel kost het?"]
)
def test_what_tells_nothing_or_another_language_is_the_default(message: str) -> None:
    assert spoken(message, default="it") == "it"


def test_a_message_that_tells_nothing_is_in_the_language_spoken_before() -> None:
    assert spoken("DN100?", ["Where is it?", "Welche Schrauben brauche ich?"]) == "de"
    assert spoken("料金はいくらですか", ["Welche Schrauben brauche ich?"], "fr") == "fr"


def test_messages_of_scripted_conversations_are_hardly_ever_taken_for_another_language_and_seldom_for_none() -> None:
    told: Counter[str] = Counter()
    wrong = []
    for path in sorted(FIXTURES.glob("memory*/*.json")):
        dialogue = json.loads(path.read_text(encoding="utf-8"))
        for session in dialogue["sessions"]:
            for turn in session:
                found = spoken(turn["message"], default="")
                told["right" if found == dialogue["language"] else "other" if found else "none"] += 1
                if found and found != dialogue["language"]:
                    wrong.append((dialogue["language"], found, turn["message"]))
    assert len(wrong) <= 0.005 * told.total(), wrong
    assert told["none"] <= 0.07 * told.total()
