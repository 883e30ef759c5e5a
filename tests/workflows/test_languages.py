"""Whether two texts are surely in different languages."""

import pytest

from condensery.workflows.engines.languages import differ

ASKED = {
    "en": ["How long is it?", "Which month?", "And on Sundays?", "Cesarean section", "Morlenz Railway?", "tickets"],
    "de": ["Wie lang ist sie?", "Welcher Monat?", "Und am Sonntag?", "Kündigungsfrist?", "Und mit Hund?"],
    "fr": [
        "Combien de temps dure-t-il ?",
        "Quel mois ?",
        "Et le dimanche ?",
        "Et les vélos ?",
        "Le délai de préavis ?",
    ],
    "it": ["Quanto è lungo?", "Che mese?", "E la domenica?", "E le biciclette?", "Il termine di disdetta?"],
}
WHOLE = {
    "en": "In which month is the restaurant open on Sundays and how much is a ticket?",
    "de": "In welchem Monat ist das Restaurant am Sonntag geöffnet und was kostet eine Karte?",
    "fr": "En quel mois le restaurant est-il ouvert le dimanche et combien coûte un billet ?",
    "it": "In quale mese il ristorante è aperto la domenica e quanto costa un biglietto?",
}
SURELY = {
    "en": "What does a day ticket for children cost in winter?",
    "de": "Was kostet eine Tageskarte für Kinder im Winter?",
    "fr": "Combien coûte un billet journalier pour les enfants en hiver ?",
    "it": "Quanto costa un biglietto giornaliero per i bambini in inverno?",
}


@pytest.mark.parametrize("locale", ASKED)
def test_a_rewrite_in_the_language_of_the_message_is_never_taken_for_another(locale: str) -> None:
    assert not [message for message in [*ASKED[locale], SURELY[locale]] if differ(message, WHOLE[locale])]


@pytest.mark.parametrize("own", SURELY)
@pytest.mark.parametrize("other", WHOLE)
def test_a_whole_question_in_another_language_is_recognised(own: str, other: str) -> None:
    assert differ(SURELY[own], WHOLE[other]) is (own != other)


@pytest.mark.parametrize(
    ("message", "rewrite"),
    [
        ("ราคาตั๋วไปกลับสำหรับผู้ใหญ่เท่าไหร่", "How much is a return ticket for adults?"),
        ("退款期限是多久？", "How long is the refund period?"),
        ("Сколько стоит билет?", "How much is a ticket?"),
        ("How much is a ticket?", "Сколько стоит билет на поезд?"),
        ("And for children?", "儿童票多少钱？"),
    ],
)
def test_another_script_is_certain(message: str, rewrite: str) -> None:
    assert differ(message, rewrite)


@pytest.mark.parametrize(
    ("message", "rewrite"),
    [
        ("แล้ว Morlenz Railway ล่ะ", "ราคาตั๋วของ Morlenz Railway เท่าไหร่"),
        ("PDFはどこ？", "マニュアルのPDFファイルはどこにありますか？"),
        ("請求書は？", "請求書はどこですか"),
        ("А билет?", "Сколько стоит билет на поезд Morlenz?"),
        ("2024?", "How many passengers were there in 2024?"),
        ("???", "How many passengers were there?"),
    ],
)
def test_names_in_another_script_and_messages_without_letters_are_no_other_language(message: str, rewrite: str) -> None:
    assert not differ(message, rewrite)
