"""Whether a rewrite says what was said, in every language the prompts are written in."""

import pytest

from condensery.workflows.engines.grounding import adds, is_grounded, keeps

EN = "How long is it? The track of the Morlenz Railway was opened on 14 June 1911. Ada Lovelace, 1,280 francs"
DE = "Wie lang ist sie? Die Strecke der Morlenzbahn wurde am 14. Juni 1911 eröffnet. Der Turm. ada lovelace"
FR = "Combien mesure-t-elle ? La voie du chemin de fer du Morlenz a été ouverte le 14 juin 1911. L'hôtel."
IT = "Quanto è lungo? Il tracciato della ferrovia del Morlenz fu aperto il 14 giugno 1911. L'albergo."


@pytest.mark.parametrize(
    ("rewrite", "said"),
    [
        ("What is the length of the track of the Morlenz Railway?", EN),
        ("What is the length of Morlenz?", EN),
        ("When were the tracks opened?", EN),
        ("Who was Ada Lovelace?", EN.lower()),
        ("Does the Morlenz Railway cost 1280 francs?", EN),
        ("Wie lang ist die Strecke der Morlenzbahn?", DE),
        ("Welche Länge hat die Strecke der Morlenzbahn?", DE),
        ("Wie groß ist die Streckenlänge der Morlenzbahn?", DE),
        ("Welche Höhe haben die Türme?", DE),
        ("Wer war Ada Lovelace?", DE),
        ("Quelle est la longueur de la voie du chemin de fer du Morlenz ?", FR),
        ("Quand l’hôtel a-t-il été ouvert ?", FR),
        ("Qual è la lunghezza del tracciato della ferrovia del Morlenz?", IT),
        ("Quando è stato aperto l'albergo?", IT),
    ],
)
def test_what_was_said_in_other_words_is_grounded(rewrite: str, said: str) -> None:
    assert is_grounded(rewrite, said)


@pytest.mark.parametrize(
    ("rewrite", "said"),
    [
        ("What is the length of the Gotthard track?", EN),
        ("How long is the track of 1912?", EN),
        ("What is photosynthesis?", EN),
        ("Who was Charles Babbage?", EN),
        ("Wie lang ist die Strecke der Gotthardbahn?", DE),
        ("Wann wurde der Eiffelturm gebaut?", DE),
        ("Wie lang war die Strecke 1912?", DE),
        ("Quelle est la longueur de la voie du Gothard ?", FR),
        ("La voie a-t-elle été ouverte en 1912 ?", FR),
        ("Qual è la lunghezza della ferrovia del Gottardo?", IT),
        ("La ferrovia fu aperta nel 1912?", IT),
    ],
)
def test_a_new_name_a_new_number_or_a_new_subject_is_not(rewrite: str, said: str) -> None:
    assert not is_grounded(rewrite, said)


def test_scripts_without_spaces_are_compared_by_what_search_compares() -> None:
    said = "ราคาตั๋วไปกลับสำหรับผู้ใหญ่เท่าไหร่ แล้วเด็กล่ะ"
    assert is_grounded("ราคาตั๋วไปกลับสำหรับเด็กเท่าไหร่", said)
    assert not is_grounded("โรงแรมเปิดกี่โมง", said)


@pytest.mark.parametrize(
    ("message", "rewrite", "kept"),
    [
        ("Electoral votes/Electoral College", "What is the role of the Speaker of the House?", False),
        ("1% ratio, is the rate 4%?", "Why do two funds differ?", False),
        ("And for a dog?", "How much is a ticket for a dog?", True),
        ("Which month?", "In which month is the rope test?", True),
        ("How long is it?", "What is the length of the track?", True),
        ("Could you tell me a little about tickets, please?", "Which tickets are there?", True),
        ("Und für Hunde?", "Was kostet eine Fahrkarte für einen Hund?", True),
        ("Öffnungszeiten im Winter", "Was kostet eine Fahrkarte für einen Hund?", False),
        ("Combien coûte-t-elle à Arvel ?", "Combien coûte la piscine à Arvel ?", True),
        ("Et pour un chien ?", "Combien coûte un billet pour un chien ?", True),
        ("E per i cani?", "Quanto costa il biglietto per un cane?", True),
    ],
)
def test_a_rewrite_keeps_what_the_message_asks(message: str, rewrite: str, kept: bool) -> None:
    assert keeps(rewrite, message) is kept


def test_a_message_in_other_words_adds_nothing() -> None:
    assert not adds("How much do you need for a mortgage?", "How much money do I need for a mortgage?")
    assert adds("How much is a ticket for a dog?", "And for a dog?")
    assert adds("What happened in 1911?", "What happened then?")
