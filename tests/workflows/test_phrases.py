import pytest

from condensery.workflows.phrases import all_phrases, bare, gated


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("hi", "greeting"),
        ("Hello!", "greeting"),
        ("thanks!", "thanks"),
        ("Thank you so much!!", "thanks"),
        ("👍", "acknowledgement"),
        ("ok", "acknowledgement"),
        ("OK, thanks 🙏", "thanks"),
        ("hi, who are you?", "identity"),
        ("What can you do?", "capabilities"),
        ("which documents do you know?", "documents"),
        ("Danke schön!", "thanks"),
        ("Was kannst du?", "capabilities"),
        ("Merci beaucoup", "thanks"),
        ("D’accord", "acknowledgement"),
        ("Grazie mille!", "thanks"),
        ("Chi sei?", "identity"),
        ("What do you remember about me?", "memory"),
        ("Hallo, was weißt du über mich?", "memory"),
        ("Qu’est-ce que tu sais de moi ?", "memory"),
        ("Cosa ti ricordi di me?", "memory"),
    ],
)
def test_small_talk_and_questions_about_the_assistant_are_gated(message: str, kind: str) -> None:
    found = gated(message, all_phrases(), "en")
    assert found is not None
    assert found.kind == kind


@pytest.mark.parametrize(
    "message",
    [
        "hi, how long is the track?",
        "thanks, and on Sundays?",
        "Which month?",
        "ok so what does it cost",
        "?",
        "help me find the notice period",
        "who is the managing director?",
        "good morning tickets: how much?",
        "42",
        "what do you know about me and my ticket?",
        "what do you remember about the funicular?",
        "Was weißt du über den Zoo?",
        "請求書",
    ],
)
def test_a_question_is_never_gated(message: str) -> None:
    assert gated(message, all_phrases(), "en") is None


def test_a_reply_comes_in_the_language_of_the_phrase() -> None:
    found = gated("Vielen Dank", all_phrases(), "en")
    assert found is not None
    assert found.locale == "de"
    shared = gated("ok", all_phrases(), "it")
    assert shared is not None
    assert shared.locale == "it"


def test_every_phrase_is_found_in_its_own_locale() -> None:
    for locale, phrases in all_phrases().items():
        for phrase, kind in phrases.items():
            found = gated(phrase, all_phrases(), locale)
            assert (found and found.kind, found and found.locale) == (kind, locale), phrase
            assert bare(phrase) == phrase
