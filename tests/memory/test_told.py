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
        ("Where do I live?", "I moved to Bergen last month.", "moved"),
        ("What is my diet?", "I'm vegetarian.", "diet"),
        ("What's my dog called?", "My dog is called Rex.", "my:dog name"),
        ("what is my customer number", "My customer number is 4711.", "my:customer number"),
        ("Wie heißt mein Hund?", "Mein Hund heißt Rex.", "my:hund name"),
        ("Comment s'appelle mon chien ?", "Mon chien s'appelle Rex.", "my:chien name"),
        ("Qual è il mio numero cliente?", "Il mio numero cliente è 4711.", "my:client numer"),
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
    ("question", "fact", "slot"),
    [
        ("Can I travel with a dog?", "I travel with a dog.", "do:travel dog"),
        ("May I have a bike?", "I have a bike.", "have:bike"),
        ("Can I work in Oslo?", "I work in Oslo.", "work:oslo"),
        ("Where can I live?", "I live in Oslo.", "home"),
        ("Why should I live in Oslo?", "I live in Oslo.", "home"),
        ("When may I work?", "I work at Acme.", "employer"),
        ("What notice period applies to me?", "I live in Oslo.", "home"),
        ("What does it cost to live in Oslo?", "I live in Oslo.", "home"),
        ("What is my name day?", "My name is Ada.", "name"),
        ("What's my notice period?", "My dog is called Rex.", "my:dog name"),
        ("Where do I live? And what does the pass cost?", "I live in Oslo.", "home"),
        ("Darf ich in Oslo arbeiten?", "Ich arbeite in Oslo.", "employer"),
        ("Wo darf ich wohnen?", "Ich wohne in Graz.", "home"),
        ("Wie lange ist meine Kündigungsfrist?", "Mein Hund heißt Rex.", "my:hund name"),
        ("Puis-je habiter à Nantes ?", "J'habite à Nantes.", "home"),
        ("Pourquoi est-ce que j'habite à Nantes ?", "J'habite à Nantes.", "home"),
        ("Posso abitare a Torino?", "Abito a Torino.", "home"),
        ("Ho un cane?", "Ho un cane.", "have:cane"),
        ("Me?", "I live in Oslo.", "home"),
        ("", "I live in Oslo.", "home"),
    ],
)
def test_what_asks_for_more_or_for_anything_else_is_a_question_to_the_documents(
    question: str, fact: str, slot: str
) -> None:
    assert told(question, [remembered(fact, slot)]) is None


def test_what_an_organization_shares_is_not_what_the_person_said() -> None:
    assert told("Where do I live?", [remembered("I live in Oslo.", "home", "organization")]) is None
