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
        ("I work nights in a warehouse.", "I work days in a call centre now."),
        ("I keep nine hives behind the church in Ludlow.", "I keep four hives now."),
        ("I have two kids, Milo and Jess.", "I have three kids, Milo, Jess and Noor."),
        ("I rent a two-bedroom flat in Sheffield.", "I rent a studio in Chesterfield now."),
        ("I use SCIA for the modelling.", "I use RFEM for the modelling now."),
        ("I go to dialysis on mondays and fridays.", "I go to dialysis on tuesdays now."),
        ("I have a Guzzi V7.", "I sold the Guzzi."),
        ("I work nights in a warehouse.", "I handed in my notice at the warehouse."),
        ("I have a Guzzi V7.", "I no longer have the Guzzi."),
        ("I drive a Golf.", "I now drive a van."),
        ("Ich fahre einen Golf.", "Ich fahre jetzt einen Kangoo."),
        ("Ich fahre einen alten Golf.", "Ich habe den Golf verkauft."),
        ("Wir haben eine Dreizimmerwohnung in Bern.", "Wir haben jetzt eine Vierzimmerwohnung in Thun."),
        ("Ich bin Kassenwartin im Ruderclub.", "Ich bin jetzt Schriftführerin im Ruderclub."),
        ("Ich rauche.", "Ich rauche nicht mehr."),
        ("I smoke a pipe.", "I quit smoking a pipe in June."),
        ("J'ai une moto.", "J'ai vendu ma moto."),
        ("Je joue du violon.", "J'ai arrêté de jouer du violon."),
        ("Je suis en L3 d'histoire à Rennes.", "Je suis en L1 de droit à Rennes."),
        ("Je suis trésorière adjointe.", "Je suis trésorière en titre."),
        ("Je suis locataire à Bron.", "Je suis propriétaire d'une maison à Lyon."),
        ("Lavoro in una pizzeria.", "Ora lavoro in una libreria."),
        ("Non leggo le note.", "Adesso leggo le note."),
        ("Ho una Guzzi V7 del 2016.", "Ho venduto la Guzzi."),
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
        ("I have a sister in Oslo.", "I have a sister in Bergen."),
        ("I play the cello in an orchestra.", "I play the piano now."),
        ("I work in a warehouse.", "I work part-time now."),
        ("I have a Guzzi.", "I sold the van."),
        ("I play tennis.", "I started playing tennis again."),
        ("I speak Twi.", "I speak English now."),
        ("Ich spiele Posaune.", "Ich spiele jetzt Tennis."),
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
