"""When two statements are the same fact about a person."""

import itertools
import json
from pathlib import Path

import pytest

from condensery.evals.memory_matching import carried, language_of, overlap, same_fact

FIXTURES = Path(__file__).parents[2] / "evals" / "fixtures" / "memory"

SAME = [
    ("en", "I live in Oslo.", "lives in Oslo"),
    ("en", "I live in Oslo.", "The user is living in Oslo now"),
    ("en", "i dont eat meat", "I don't eat meat."),
    ("en", "My dog is called Rex.", "the user's dog's name is rex"),
    ("en", "I'm 34.", "I am 34 years old"),
    ("en", "I have two cats.", "has 2 cats"),
    ("en", "I'm a nurse on night shifts.", "nurse, works on night shifts"),
    ("en", "I’m Priya.", "My name is Priya"),
    ("de", "Ich wohne in Köln.", "wohnt derzeit in Köln"),
    ("de", "Ich habe zwei Hunde.", "Der Nutzer hat 2 Hunde"),
    ("de", "Ich heiße Lea", "Mein Name ist Lea."),
    ("de", "Ich esse kein Fleisch.", "isst kein Fleisch"),
    ("fr", "J'habite à Lyon.", "habite maintenant à Lyon"),
    ("fr", "Je ne mange pas de viande.", "Ne mange jamais de viande"),
    ("fr", "Ma fille s'appelle Inès.", "Le nom de ma fille est Ines"),
    ("it", "Abito a Torino.", "vivo a Torino"),
    ("it", "Ho due figli.", "L'utente ha 2 figli"),
]
OTHER = [
    ("en", "I live in Oslo", "I live in Bergen"),
    ("en", "i live in oslo", "i live in bergen"),
    ("en", "I don't eat meat", "I eat meat"),
    ("en", "I live in Oslo", "My brother lives in Oslo"),
    ("en", "I'm a nurse", "She is a nurse"),
    ("en", "I live in Oslo", "I used to live in Oslo"),
    ("en", "I live in Oslo", "I would like to live in Oslo"),
    ("en", "I live in Oslo", "I might live in Oslo"),
    ("en", "I have two cats", "I have three cats"),
    ("en", "I have two cats", "I have cats"),
    ("en", "I work for Acme in Oslo", "I work for Acme in Oslo and Kestrel"),
    ("en", "I work in Oslo", "I live in Oslo"),
    ("en", "I'm a nurse", "I'm a nurse at the hospital of my town"),
    ("en", "My name is Rex", "My dog's name is Rex"),
    ("de", "Ich wohne in Köln", "Ich wohne in Bonn"),
    ("de", "Ich bin Vegetarierin", "Ich bin keine Vegetarierin"),
    ("de", "Ich wohne in Köln", "Mein Chef wohnt in Köln"),
    ("de", "Ich wohne in Köln", "Ich möchte in Köln wohnen"),
    ("fr", "Je suis végane", "Je ne suis plus végane"),
    ("fr", "J'habite à Lyon", "Ma sœur habite à Lyon"),
    ("fr", "J'ai 22 ans", "J'ai 23 ans"),
    ("it", "Mangio carne", "Non mangio carne"),
    ("it", "Abito a Torino", "Vorrei abitare a Torino"),
    ("it", "Vivo a Genova", "Vivo a Torino"),
]


@pytest.mark.parametrize(("language", "one", "other"), SAME)
def test_a_fact_is_the_same_in_other_forms(language: str, one: str, other: str) -> None:
    assert same_fact(one, other, language)
    assert same_fact(other, one, language)


@pytest.mark.parametrize(("language", "one", "other"), OTHER)
def test_statements_that_differ_in_what_counts_are_different_facts(language: str, one: str, other: str) -> None:
    assert not same_fact(one, other, language)
    assert not same_fact(other, one, language)


def test_a_little_more_may_be_said_and_not_much_more() -> None:
    assert same_fact("I play the trumpet", "I play the trumpet loudly", "en")
    assert not same_fact("I play the trumpet", "I play the trumpet loudly every evening", "en")


def test_a_statement_of_empty_words_is_only_itself() -> None:
    assert same_fact("I am.", "i am.", "en")
    assert not same_fact("I am.", "I have.", "en")
    assert not same_fact("", "I live in Oslo", "en")


def test_a_fact_is_carried_by_a_message_with_all_its_content() -> None:
    assert carried("I live in Oslo.", "btw im living in oslo, what does it cost", "en")
    assert not carried("I live in Oslo.", "what does living there cost", "en")


def test_overlap_is_the_share_of_common_words() -> None:
    assert overlap("I live in Oslo", "I live in Bergen", "en") == pytest.approx(1 / 3)
    assert overlap("", "", "en") == 0


@pytest.mark.parametrize("file", sorted(FIXTURES.glob("*.json")), ids=lambda file: file.stem)
def test_the_facts_of_a_dialogue_are_told_apart(file: Path) -> None:
    given = json.loads(file.read_text(encoding="utf-8"))
    facts = [*given["facts"], *given["superseded"], *given.get("tolerated", [])]
    language = given["language"]
    assert all(same_fact(fact, fact, language) for fact in facts)
    assert [pair for pair in itertools.combinations(facts, 2) if same_fact(*pair, language)] == []


@pytest.mark.parametrize("file", sorted(FIXTURES.glob("*.json")), ids=lambda file: file.stem)
def test_the_language_of_a_dialogue_is_seen_from_its_words(file: Path) -> None:
    given = json.loads(file.read_text(encoding="utf-8"))
    assert language_of(turn["message"] for session in given["sessions"] for turn in session) == given["language"]
