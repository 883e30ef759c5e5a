"""Facts that people state of themselves, found without a model: in four languages, cut out clause by clause."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condensery.errors import ConfigError
from condensery.memory import languages
from condensery.memory.clauses import LONGEST_CLAUSE
from condensery.memory.grammar import Grammar
from condensery.memory.languages import everyday_share
from condensery.memory.self_stated import MOST_FACTS, self_stated, slot_of
from condensery.prompts.loader import prompts_for
from condensery.prompts.locales import LOCALES

SAID = {locale: tomllib.loads((Path(__file__).parent / f"self_stated_{locale}.toml").read_text()) for locale in LOCALES}
STATED = [(message, facts) for locale in LOCALES for message, *facts in SAID[locale]["facts"]]
NOT_STATED = [message for locale in LOCALES for message in SAID[locale]["none"]]


def texts(message: str) -> list[str]:
    return [fact.text for fact in self_stated(message)]


@pytest.mark.parametrize(("message", "facts"), STATED)
def test_what_people_state_of_themselves_is_cut_out(message: str, facts: list[str]) -> None:
    assert texts(message) == facts


@pytest.mark.parametrize("message", NOT_STATED)
def test_what_states_nothing_lasting_of_the_speaker_gives_no_fact(message: str) -> None:
    assert texts(message) == []


@pytest.mark.parametrize("message", [message for message, _ in STATED])
@pytest.mark.parametrize("wrap", ["<context>{}</context> What does it mean?", "```\n{}\n```\nWhat?", "> {}\nWhat?"])
def test_pasted_statements_give_no_fact(wrap: str, message: str) -> None:
    assert texts(wrap.format(message)) == []


@pytest.mark.parametrize(("message", "facts"), STATED)
def test_typographic_apostrophes_and_plain_ones_read_alike(message: str, facts: list[str]) -> None:
    assert texts(message.replace("'", "’").replace("“", "")) == facts


@pytest.mark.parametrize(
    "message",
    [
        "I live in Oslo and my card number is 4111 1111 1111 1111",
        "My token is ghp_16C7e42F292c6912E7710c838347Ae178B4a and I live in Oslo.",
        "Mein Passwort lautet Sommer2024 und ich wohne in Oslo.",
        "Mon code PIN est 4921 et j'habite à Oslo.",
        "La mia password è gatto99 e vivo a Oslo.",
    ],
)
def test_a_secret_is_never_a_fact_but_what_stands_beside_it_is(message: str) -> None:
    (fact,) = texts(message)
    assert "Oslo" in fact
    assert not any(secret in fact for secret in ("4111", "ghp", "Sommer", "4921", "gatto"))


def test_a_long_list_of_statements_is_cut() -> None:
    assert len(texts(" ".join(f"I have {number} dogs." for number in range(2, 40)))) == MOST_FACTS


@pytest.mark.parametrize("said", ["I live in Oslo. ", "I live in Oslo\n", "Ich bin am 3. "])
def test_a_message_of_repetitions_is_looked_at_in_proportion_to_its_length(
    said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def looked_at(length: int) -> int:
        scored: list[int] = []

        def share(locale: str, text: str) -> float:
            scored.append(len(text))
            return everyday_share(locale, text)

        monkeypatch.setattr(languages, "everyday_share", share)
        self_stated((said * length)[:length])
        return sum(scored)

    assert looked_at(16_000) <= 5 * looked_at(4_000)


def test_a_sentence_that_never_ends_states_nothing() -> None:
    assert texts("I live in Oslo, " * 20) != []
    assert texts("I live in Oslo, " * 200) == []


@given(st.text(max_size=300))
def test_no_text_breaks_it(message: str) -> None:
    assert all(2 <= len(fact.text) <= LONGEST_CLAUSE + 10 for fact in self_stated(message))


@given(st.lists(st.sampled_from([message for message, _ in STATED] + NOT_STATED), min_size=1, max_size=4))
def test_facts_are_short_sentences_that_are_found_again_in_themselves(messages: list[str]) -> None:
    for fact in texts("\n".join(messages)):
        assert fact.endswith(".")
        assert texts(fact)[:1], fact


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I live in Oslo.", "Ich wohne in Basel."),
        ("I prefer aisle seats.", "Je préfère les places côté fenêtre."),
        ("My name is Ingrid.", "Mi chiamo Giulia."),
        ("I am a nurse.", "Ich arbeite als Lehrerin."),
        ("I'm a vegetarian.", "I eat meat again."),
        ("I work for Nordlys.", "Lavoro per Nordelec."),
        ("I like tea.", "I don't like tea any more."),
        ("I have two children.", "I have three children."),
    ],
)
def test_answers_to_the_same_question_have_the_same_slot(one: str, other: str) -> None:
    assert slot_of(one) is not None
    assert slot_of(one) == slot_of(other)


def test_facts_of_which_there_may_be_many_have_slots_of_their_own() -> None:
    assert slot_of("I have a dog.") != slot_of("I have a cat.")
    assert slot_of("My dog is called Rex.") != slot_of("My cat is called Rex.")
    assert slot_of("My dog is called Rex.") != slot_of("My dog is 5 years old.")
    assert slot_of("The weather is fine.") is None


def test_a_locale_without_a_pattern_or_with_a_broken_one_is_refused() -> None:
    table = prompts_for("en").facts
    with pytest.raises(ConfigError, match="lacks blocked"):
        Grammar("en", {**table, "words": {k: v for k, v in table["words"].items() if k != "blocked"}})
    with pytest.raises(ConfigError, match="broken pattern"):
        Grammar("en", {**table, "words": {**table["words"], "blocked": "("}})
