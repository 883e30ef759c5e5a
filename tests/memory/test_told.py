"""Questions about the person themselves are answered by what they said, and by nothing less."""

import pytest

from condensery.memory.told import told
from condensery.memory.types import Remembered, ScopeKind


def remembered(text: str, slot: str | None = None, kind: ScopeKind = "user") -> Remembered:
    return Remembered(id=text, kind=kind, text=text, slot=slot)


@pytest.mark.parametrize(
    ("question", "fact", "slot"),
    [
        ("Where do I live?", "I live in Oslo.", "home"),
        ("What is my diet?", "I'm vegetarian.", "diet"),
        ("What's my dog called?", "My dog is called Rex.", "my:dog name"),
        ("Wo wohne ich?", "Ich wohne in Graz.", "home"),
        ("Où est-ce que j'habite ?", "J'habite à Nantes.", "home"),
        ("Dove abito io?", "Abito a Torino.", "home"),
    ],
)
def test_a_question_about_oneself_is_answered_by_the_fact_that_says_all_of_it(
    question: str, fact: str, slot: str
) -> None:
    found = told(question, [remembered("I like tea."), remembered(fact, slot)])
    assert found is not None
    assert found.text == fact


@pytest.mark.parametrize(
    "question",
    [
        "What notice period applies to me?",
        "What does it cost to live in Oslo?",
        "Do I live in Bergen?",
        "May I live in Oslo with 3 dogs?",
        "Me?",
        "",
    ],
)
def test_a_fact_that_says_less_than_is_asked_answers_nothing(question: str) -> None:
    assert told(question, [remembered("I live in Oslo.", "home")]) is None


def test_what_an_organization_shares_is_not_what_the_person_said() -> None:
    assert told("Where do I live?", [remembered("I live in Oslo.", "home", "organization")]) is None
