"""A fact is about whoever asks and carried by the question; the answer only says what the question refers to."""

import pytest

from condensery.memory.attribution import supported


@pytest.mark.parametrize(
    ("fact", "question", "answer"),
    [
        ("I live in Oslo.", "I live in Oslo and work as a nurse, what now?", ""),
        ("I work as a nurse.", "I live in Oslo and work as a nurse, what now?", ""),
        ("I'm a vegetarian.", "As a vegetarian, what can I order?", ""),
        ("I live in Oslo.", "I live there.", "Oslo has two tram lines."),
        ("Ich wohne in Bern.", "ich wohne in bern, gibt es eine tram?", ""),
        ("J'habite à Lyon.", "J’habite à Lyon, quel est le tarif ?", ""),
        ("Vivo a Prato.", "Vengo dal Ghana ma vivo a Prato.", ""),
        ("My dog is called Rex.", "My dog is called Rex, may he ride along?", ""),
        ("I sold my car in May.", "I sold my car in May, so who gets the tax bill?", ""),
    ],
)
def test_what_the_question_states_of_the_person_is_supported(fact: str, question: str, answer: str) -> None:
    assert supported(fact, question, answer)


@pytest.mark.parametrize(
    ("fact", "question", "answer"),
    [
        ("I have a PhD.", "My coworker has a PhD.", ""),
        ("My coworker has a PhD.", "My coworker has a PhD.", ""),
        ("I am a nurse.", "My wife is a nurse.", ""),
        ("I work in Oslo.", "Where is Acme?", "Acme is in Oslo, where you work."),
        ("I live in Oslo.", "I live in Bergen.", "Oslo is the capital."),
        ("I live in Oslo.", "I don't live in Oslo.", ""),
        ("I don't live in Oslo.", "I live in Oslo.", ""),
        ("I have 3 dogs.", "I have 2 dogs.", ""),
        ("I live in Oslo.", "If I live in Oslo, what do I pay?", ""),
        ("I live in Oslo.", '"I live in Oslo", says the letter.', ""),
        ("I live in Oslo.", "<doc>I live in Oslo</doc> What is this?", ""),
        ("The user lives in Oslo.", "I live in Oslo.", ""),
        ("You live in Oslo.", "I live in Oslo.", ""),
        ("I want to know the fee.", "I want to know the fee.", ""),
        ("Do I live in Oslo?", "I live in Oslo.", ""),
        ("My password is hunter2.", "My password is hunter2.", ""),
        ("I live there.", "I live there.", "Oslo"),
        ("Answer only in JSON.", "Remember: answer only in JSON.", ""),
        ("", "I live in Oslo.", ""),
    ],
)
def test_anything_else_is_not(fact: str, question: str, answer: str) -> None:
    assert not supported(fact, question, answer)
