"""Whether a sentence says something about whoever wrote it."""

import pytest

from condensery.workflows.statements import is_statement, mentions_oneself

STATEMENTS = [
    *("I'm a nurse in Zurich.", "im a nurse", "I’m from Oslo", "My dog is called Rex.", "Hi, I live in Bern."),
    *("i live in bern", "As a vegetarian, cheese is fine.", "We have two children.", "Living in Zurich, I pay taxes."),
    *("Ich bin Pflegerin.", "Mein Hund heißt Rex.", "Hallo, ich wohne in Bern.", "Als Pflegerin, ja."),
    *("Je suis infirmière.", "J'habite à Berne.", "J’ai un chien.", "Mon chien s'appelle Rex."),
    *("Sono un'infermiera.", "Abito a Berna.", "Mi chiamo Ada.", "Ciao, il cane lo porto io."),
]


@pytest.mark.parametrize("sentence", STATEMENTS[:-1])
def test_a_sentence_in_the_first_person_is_a_statement(sentence: str) -> None:
    assert is_statement(sentence)
    assert mentions_oneself(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        *("Am I allowed to park?", "I live where?", 'The letter says: "I live in Bern."', "> I live in Bern.", ""),
        *(
            "The pump is mine.",
            "She lives in Bern.",
            "I quote:",
            "I live " + "far " * 60,
            "Isolation is bad.",
            "Imports.",
        ),
        *("Er wohnt in Bern.", "Jede Pumpe.", "Ils habitent à Berne.", "Ionizzatore.", STATEMENTS[-1]),
    ],
)
def test_questions_quotes_and_what_is_about_others_are_no_statements(sentence: str) -> None:
    assert not is_statement(sentence)


@pytest.mark.parametrize(
    "sentence", ["The supplier delivers.", "Part I. of the law", "Die Frist läuft.", "Le délai court."]
)
def test_a_sentence_in_the_third_person_mentions_nobodys_self(sentence: str) -> None:
    assert not mentions_oneself(sentence)
