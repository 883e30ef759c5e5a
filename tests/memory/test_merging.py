"""A new fact beside those that are kept: added, left out as known, or in the place of an older one."""

import pytest

from condensery.memory.merging import Add, Skip, Supersede, decide
from condensery.memory.self_stated import slot_of
from condensery.memory.types import Fact, NewFact


def kept(text: str, **fields: object) -> Fact:
    return Fact.model_validate({"id": text, "text": text, "slot": slot_of(text), **fields})


def new(text: str) -> NewFact:
    return NewFact(text=text, slot=slot_of(text))


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("I live in Oslo.", "i live in oslo"),
        ("I live in Oslo.", "I'm living in Oslo."),
        ("I live in Oslo.", "I am based in Oslo."),
        ("I live in Oslo, Norway.", "I live in Oslo."),
        ("Vivo a Torino.", "Mi sono trasferita a Torino."),
        ("I live in Oslo.", "Ich wohne in Oslo."),
        ("I am a nurse.", "I work as a nurse."),
        ("My dog is called Rex.", "My dog's name is Rex."),
        ("Ich esse kein Fleisch.", "Ich esse überhaupt kein Fleisch."),
        ("J'ai deux enfants.", "J'ai 2 enfants."),
        ("I was at the fair in 2019.", "I was at the fair in 2019!"),
    ],
)
def test_the_same_in_other_words_is_kept_once(known: str, said: str) -> None:
    facts = [kept("I have a cat."), kept(known)]
    assert decide(new(said), facts) == Skip(facts[1])


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("I live in Oslo.", "I moved to Basel in March."),
        ("I'm in Zurich.", "I live in Basel now."),
        ("I moved to Bergen last month.", "I live in Bergen now."),
        ("I live in Bern.", "Je me suis installée à Lyon."),
        ("I live in Bern.", "I no longer live in Bern."),
        ("I prefer aisle seats.", "I prefer window seats."),
        ("I have two children.", "I have three children."),
        ("I like tea.", "I don't like tea any more."),
        ("I'm a vegetarian.", "I eat meat again."),
        ("I am a member.", "I'm not a member any more."),
        ("I'm 67 years old.", "I'm 68."),
        ("My name is Ingrid.", "Ich heiße Greta."),
        ("My shoe size is 43.", "My shoe size is 44."),
        ("I prefer tea.", "I switched from tea to coffee."),
    ],
)
def test_a_contradiction_takes_the_place_of_the_older_fact(known: str, said: str) -> None:
    facts = [kept("I play the cello."), kept(known)]
    assert decide(new(said), facts) == Supersede((facts[1],))


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("I have a dog.", "I have a cat."),
        ("I like tea.", "I like coffee."),
        ("I live in Oslo.", "I no longer live in Bern."),
        ("I live in Oslo.", "I'm in Zurich."),
        ("I'm allergic to nuts.", "I'm allergic to pollen."),
        ("My dog is called Rex.", "My cat is called Rex."),
        ("I sold 3 cars.", "I sold 4 cars."),
        ("I met Anna.", "I met Hanna."),
    ],
)
def test_what_says_something_else_is_added(known: str, said: str) -> None:
    assert decide(new(said), [kept(known)]) == Add()


def test_what_was_superseded_neither_hides_nor_is_superseded_again() -> None:
    assert decide(new("I live in Oslo."), [kept("I live in Oslo.", superseded_by="x")]) == Add()
    assert decide(new("I live in Oslo."), [kept("I live in Bern.", superseded_by="x")]) == Add()


def test_slots_that_were_given_count() -> None:
    older = Fact(id="1", text="Red it is.", slot="colour")
    assert decide(NewFact(text="Blue it is.", slot="colour"), [older]) == Supersede((older,))
    assert decide(NewFact(text="Blue it is.", slot="car"), [older]) == Add()
