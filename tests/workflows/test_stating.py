"""Whether a rewrite says of the person what they said of themselves."""

import pytest

from condensery.workflows.engines.stating import invents, loses, restated

KEPT = [
    ("I live in Zurich; what is the notice period?", "I live in Zurich; what is the notice period of a driver?"),
    ("I'm a nurse in Zurich. How long is it?", "I'm a nurse in Zurich. How long is the notice period?"),
    ("As a nurse in Zurich, how long is it?", "As a nurse in Zurich, how long is the notice period?"),
    ("Ich wohne in Zürich; wie lang ist sie?", "Ich wohne in Zürich; wie lang ist die Kündigungsfrist?"),
    ("J'habite à Zurich ; quelle est sa durée ?", "J'habite à Zurich ; quelle est la durée du préavis ?"),
    ("Abito a Zurigo; quanto dura?", "Abito a Zurigo; quanto dura il preavviso?"),
    ("How long is it?", "How long is the notice period?"),
]


@pytest.mark.parametrize(("message", "rewrite"), KEPT)
def test_a_rewrite_that_repeats_what_was_stated_is_left_as_it_is(message: str, rewrite: str) -> None:
    assert not loses(rewrite, message)
    assert restated(rewrite, message) == rewrite


@pytest.mark.parametrize(
    ("message", "rewrite"),
    [
        ("I live in Zurich; what is it?", "What is the notice period of a driver?"),
        ("I live in Zurich; what is it?", "I live in Geneva; what is the notice period?"),
        ("I am 41 years old. How long is it?", "How long is the notice period at 51 years?"),
        ("Ich wohne in Zürich; wie lang ist sie?", "Wie lang ist die Kündigungsfrist?"),
        ("J'habite à Zurich ; quelle est sa durée ?", "Quelle est la durée du préavis ?"),
        ("Abito a Zurigo; quanto dura?", "Quanto dura il preavviso?"),
    ],
)
def test_a_rewrite_without_what_was_stated_loses_it(message: str, rewrite: str) -> None:
    assert loses(rewrite, message)


@pytest.mark.parametrize(
    ("message", "rewrite", "front"),
    [
        ("I live in Zurich; what is it?", "What is the notice period in Zurich?", "I live in Zurich."),
        ("As a nurse, how long is it?", "How long is the notice period for a nurse?", "I am a nurse."),
        ("I'm a nurse in Zurich. How long?", "How long is the notice period in Zurich?", "I'm a nurse in Zurich."),
        ("My dog is called Rex. May he come?", "May Rex come to the hall?", "My dog is called Rex."),
        ("Ich wohne in Zürich; wie lang?", "Wie lang ist die Frist in Zürich?", "Ich wohne in Zürich."),
        ("J'habite à Zurich ; combien ?", "Quel est le préavis à Zurich ?", "J'habite à Zurich."),
        ("Abito a Zurigo; quanto dura?", "Quanto dura il preavviso a Zurigo?", "Abito a Zurigo."),
    ],
)
def test_what_a_rewrite_only_mentions_is_stated_in_front_of_it(message: str, rewrite: str, front: str) -> None:
    assert not loses(rewrite, message)
    assert restated(rewrite, message) == f"{front} {rewrite}"


def test_a_rewrite_may_state_only_what_the_person_did() -> None:
    stated = "I live in Bergen. How long is the notice period?"
    assert invents(stated, "How long is it?", "")
    assert invents(stated, "I live in Oslo. How long is it?", "")
    assert not invents(stated, "I live in Bergen. How long is it?", "")
    assert not invents(stated, "How long is it?", "I live in Bergen. Is there a notice period?")
    assert not invents("How long is the notice period in Bergen?", "How long is it?", "")


def test_a_statement_that_leans_on_the_conversation_may_be_put_in_full() -> None:
    message = "I work there; how long is it?"
    assert not invents("I work at the Morlenz Railway; how long is the notice period?", message, "")
    assert invents("I work at the Morlenz Railway and live in Bergen; how long is it?", message, "")
