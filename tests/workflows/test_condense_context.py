"""What the engine that rewrites makes of a model's replies, in every locale."""

import pytest

from condensery.models.chat import ChatModel
from condensery.models.labels import strip_label
from condensery.models.types import Reply
from condensery.prompts.loader import Prompts, prompts_for
from condensery.prompts.locales import LOCALES
from condensery.settings import load_settings
from condensery.testing import ScriptedLLM
from condensery.workflows.engines.base import PreparedQuery
from condensery.workflows.engines.condense_context import CondenseContext
from condensery.workflows.engines.judging import fault
from condensery.workflows.turn import Exchange, FallbackReason

SETTINGS = load_settings()
HISTORY = {
    "en": Exchange(message="When is the rope test of the gondola due?", answer="It is due in 2026."),
    "de": Exchange(message="Wann ist die Seilprüfung der Gondel fällig?", answer="Sie ist 2026 fällig."),
    "fr": Exchange(
        message="Quand le contrôle du câble de la télécabine est-il prévu ?", answer="Il est prévu en 2026."
    ),
    "it": Exchange(message="Quando è prevista la prova della fune della cabinovia?", answer="È prevista nel 2026."),
}
ASKED = {"en": "Which month?", "de": "In welchem Monat?", "fr": "Quel mois ?", "it": "In che mese?"}
REWRITES = {
    "en": "In which month of 2026 is the rope test of the gondola due?",
    "de": "In welchem Monat 2026 ist die Seilprüfung der Gondel fällig?",
    "fr": "En quel mois de 2026 le contrôle du câble de la télécabine est-il prévu ?",
    "it": "In che mese del 2026 è prevista la prova della fune della cabinovia?",
}
PREFACES = {
    "en": [
        *("The rephrased question is: ", "Sure, here is the standalone question:\n", "**Standalone question:** "),
        *("Absolutely! This is the question that can be understood on its own: ", "My standalone query:\n\n"),
    ],
    "de": [
        *("Die umformulierte Frage lautet: ", "Hier ist die eigenständige Frage:\n", "**Eigenständige Frage:** "),
        *("Natürlich! Hier ist die eigenständige Frage: ", "Gerne. Die Frage, für sich verständlich:\n\n"),
    ],
    "fr": [
        *("La question reformulée est : ", "Voici la question autonome :\n", "**Question autonome :** "),
        *("Bien sûr ! Voici la question reformulée : ", "Avec plaisir. La question complète :\n\n"),
    ],
    "it": [
        *("La domanda riformulata è: ", "Ecco la domanda autonoma:\n", "**Domanda autonoma:** "),
        *("Certo! Ecco la domanda riformulata: ", "Volentieri. La domanda completa:\n\n"),
    ],
}


async def prepared(locale: str, reply: str, message: str = "") -> PreparedQuery:
    model = ChatModel(ScriptedLLM(reply), name="scripted", context_window=4096)
    engine = CondenseContext(SETTINGS, model, prompts_for(locale))
    return await engine.prepare(message or ASKED[locale], [HISTORY[locale]])


def closing_label(prompts: Prompts) -> str:
    return prompts.render("condense", conversation="", message="x").rstrip().splitlines()[-1]


@pytest.mark.parametrize("locale", LOCALES)
def test_the_label_that_the_template_ends_with_is_one_that_is_stripped(locale: str) -> None:
    label = closing_label(prompts_for(locale))
    assert label.endswith(":")
    assert strip_label(f"{label} {REWRITES[locale]}") == REWRITES[locale]


def test_a_label_that_nobody_strips_would_be_noticed() -> None:
    assert strip_label("Effective wording: Which month?") == "Effective wording: Which month?"


@pytest.mark.parametrize("locale", LOCALES)
async def test_a_question_for_a_month_alone_names_its_subject(locale: str) -> None:
    assert (await prepared(locale, REWRITES[locale])) == PreparedQuery(REWRITES[locale], ASKED[locale])


@pytest.mark.parametrize(("locale", "preface"), [(name, text) for name, texts in PREFACES.items() for text in texts])
async def test_a_preface_never_reaches_search(locale: str, preface: str) -> None:
    assert (await prepared(locale, preface + REWRITES[locale])).search_query == REWRITES[locale]


@pytest.mark.parametrize("locale", LOCALES)
async def test_the_label_of_the_prompt_repeated_never_reaches_search(locale: str) -> None:
    label = closing_label(prompts_for(locale))
    assert (await prepared(locale, f"{label} {REWRITES[locale]}")).search_query == REWRITES[locale]


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("reply", ["<think>hmm</think>{}", "<think>\nthe test\n</think>\n\n{}", "{}\n\nI kept 2026."])
async def test_reasoning_and_explanations_never_reach_search(locale: str, reply: str) -> None:
    assert (await prepared(locale, reply.format(REWRITES[locale]))).search_query == REWRITES[locale]


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize(
    "reply", ["<thought>hmm</thought>{}", '{{"question": "{}"}}', "{}\x00", "\ufeff{}", "<b>{}</b>", "\x1b{}"]
)
async def test_what_is_around_a_question_never_reaches_search(locale: str, reply: str) -> None:
    assert (await prepared(locale, reply.format(REWRITES[locale]))).search_query == REWRITES[locale]


async def test_half_a_character_of_a_rewrite_never_reaches_search() -> None:
    assert "\ud800" not in (await prepared("en", f"{REWRITES['en']}\ud800")).search_query


@pytest.mark.parametrize("reply", ["\u200b", " \n\u200b\u00a0", "\ufeff\x00", "<p></p>"])
async def test_a_rewrite_of_which_nothing_can_be_seen_is_blank(reply: str) -> None:
    assert (await prepared("en", reply)).reason == FallbackReason.BLANK


async def test_a_message_about_a_question_keeps_its_own_words() -> None:
    message = "What about this question: when is the rope test?"
    rewrite = "What about this question: when is the rope test of the gondola due?"
    assert (await prepared("en", rewrite, message)).search_query == rewrite


@pytest.mark.parametrize("locale", [name for name in LOCALES if name != "en"])
async def test_a_rewrite_in_english_of_another_languages_message_is_refused(locale: str) -> None:
    found = await prepared(locale, "In which month of 2026 is the rope test of the gondola due?")
    assert (found.search_query, found.reason) == (ASKED[locale], FallbackReason.OTHER_LANGUAGE)


async def test_a_complete_question_in_thai_is_searched_as_it_is() -> None:
    message = "ราคาตั๋วไปกลับสำหรับผู้ใหญ่ 2 คนจาก Tarnel ถึง Kulm เท่าไหร่"
    same = await prepared("en", message, message)
    assert (same.search_query, same.reason) == (message, None)
    translated = await prepared("en", "How much is a return ticket for 2 adults from Tarnel to Kulm?", message)
    assert (translated.search_query, translated.reason) == (message, FallbackReason.OTHER_LANGUAGE)


async def test_a_complete_question_in_other_words_is_searched_as_it_was_asked() -> None:
    message = "How many passengers did the gondola carry in 2024?"
    found = await prepared("en", "How many passengers were carried by the gondola in 2024?", message)
    assert (found.search_query, found.reason) == (message, None)


async def test_a_rewrite_that_drops_what_was_asked_is_refused() -> None:
    found = await prepared("en", "When is the rope test of the gondola due?", "Opening hours of the museum")
    assert (found.search_query, found.reason) == ("Opening hours of the museum", FallbackReason.LOST_WORDS)


STATED = {
    "en": ("I live in Tarnel; which month?", "I live in Tarnel."),
    "de": ("Ich wohne in Tarnel; in welchem Monat?", "Ich wohne in Tarnel."),
    "fr": ("J'habite à Tarnel ; quel mois ?", "J'habite à Tarnel."),
    "it": ("Abito a Tarnel; in che mese?", "Abito a Tarnel."),
}


@pytest.mark.parametrize("locale", LOCALES)
async def test_a_rewrite_that_drops_what_the_person_said_of_themselves_is_refused(locale: str) -> None:
    message, _ = STATED[locale]
    found = await prepared(locale, REWRITES[locale], message)
    assert (found.search_query, found.reason) == (message, FallbackReason.LOST_WORDS)


@pytest.mark.parametrize("locale", LOCALES)
async def test_what_the_person_said_of_themselves_stays_stated(locale: str) -> None:
    message, stated = STATED[locale]
    repeated = f"{stated.removesuffix('.')}; {REWRITES[locale][0].lower()}{REWRITES[locale][1:]}"
    assert await prepared(locale, repeated, message) == PreparedQuery(repeated, message)
    mentioned = REWRITES[locale].rstrip(" ?") + " (Tarnel)?"
    assert await prepared(locale, mentioned, message) == PreparedQuery(f"{stated} {mentioned}", message)


@pytest.mark.parametrize("locale", LOCALES)
async def test_a_rewrite_that_says_something_of_the_person_that_an_answer_said_is_refused(locale: str) -> None:
    model = ChatModel(ScriptedLLM(f"{STATED[locale][1]} {REWRITES[locale]}"), name="s", context_window=4096)
    told = HISTORY[locale].model_copy(update={"answer": f"{HISTORY[locale].answer} {STATED[locale][1]}"})
    found = await CondenseContext(SETTINGS, model, prompts_for(locale)).prepare(ASKED[locale], [told])
    assert (found.search_query, found.reason) == (ASKED[locale], FallbackReason.UNGROUNDED)


async def test_a_statement_that_leaves_no_room_for_itself_gives_the_message() -> None:
    settings = load_settings(condense={"max_chars": 80})
    model = ChatModel(ScriptedLLM(f"{REWRITES['en'].rstrip('?')} (Tarnel)?"), name="s", context_window=4096)
    found = await CondenseContext(settings, model, prompts_for("en")).prepare(STATED["en"][0], [HISTORY["en"]])
    assert (found.search_query, found.reason) == (STATED["en"][0], FallbackReason.LOST_WORDS)


async def test_one_call_is_made_and_it_does_not_stream() -> None:
    llm = ScriptedLLM(REWRITES["en"])
    engine = CondenseContext(SETTINGS, ChatModel(llm, name="s", context_window=4096), prompts_for("en"))
    await engine.prepare(ASKED["en"], [HISTORY["en"]])
    assert [call.kwargs["max_tokens"] for call in llm.calls] == [512]


def test_words_that_an_answer_lent_to_the_question_of_a_paste_are_not_what_the_person_said() -> None:
    rewrite = "I live in Quuxford. I live in Oslo. How long is the track?"
    lent = "How long is the track? Quuxford office. I live in Oslo. When was it built?"
    for shortened, reason in ((True, FallbackReason.UNGROUNDED), (False, None)):
        history = [Exchange(message=f"{lent} I live in Quuxford.", answer="…", shortened=shortened)]
        reply = Reply(text=rewrite)
        assert fault(reply, rewrite, "I live in Oslo. How long is the track?", history, 512) == reason


@pytest.mark.parametrize(
    ("rewrite", "reason"),
    [
        ("I'm an apprentice at the mill in Quuxford. How long is the track?", None),
        ("I live in Quuxford. I'm an apprentice there. How long is the track?", FallbackReason.UNGROUNDED),
        ("I live in Quuxford. How long is the apprentice's track there?", FallbackReason.UNGROUNDED),
    ],
)
def test_a_statement_that_leans_on_an_answer_may_be_put_in_full_and_no_other_comes_in(
    rewrite: str, reason: FallbackReason | None
) -> None:
    history = [Exchange(message="Where is the mill?", answer="I live in Quuxford, and the mill is there.")]
    message = "I'm an apprentice there. How long is the track?"
    assert fault(Reply(text=rewrite), rewrite, message, history, 512) == reason
