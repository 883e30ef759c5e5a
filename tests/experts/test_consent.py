"""Nothing is sent before the user has said yes to exactly what will be."""

from contextlib import aclosing

import pytest

from condensery.prompts.loader import LOCALES, prompts_for
from condensery.services import open_services
from condensery.settings import Settings
from condensery.tests.app.helpers import rows
from condensery.tests.experts.asking import AGENTS, QUESTION, QUESTIONS, ExpertApp, asked
from condensery.tests.experts.conftest import OpenExperts
from condensery.workflows.phrases import consent_in
from condensery.workflows.turn import Outcome

YES = {"en": "Yes, please!", "de": "Ja, gern.", "fr": "Oui, merci !", "it": "Sì, grazie."}
NO = {"en": "No.", "de": "Nein, danke", "fr": "Non merci", "it": "No, grazie!"}


@pytest.mark.parametrize("locale", LOCALES)
async def test_what_no_document_answers_is_offered_and_a_yes_sends_it(expert_app: OpenExperts, locale: str) -> None:
    texts, question = prompts_for(locale).text, QUESTIONS[locale]
    async with expert_app() as app:
        offer = await app.ask(question, conversation_id="c")
        assert offer.outcome is Outcome.ASKS_CONSENT
        assert offer.answer == f"{texts('refusal.nothing_found')}\n\n{texts('experts.offer', question=question)}"
        assert await app.experts.list() == []
        asking = await app.ask(YES[locale], conversation_id="c")
        assert asking.outcome is Outcome.ASKS_EXPERT
        assert question in asking.answer
        assert asking.answer.startswith(texts("experts.asking", question=question, until="").partition(question)[0])
        assert [request.text for request in await app.experts.list()] == [question]


@pytest.mark.parametrize("locale", LOCALES)
async def test_after_a_no_nobody_is_asked_and_the_answer_is_an_honest_one(expert_app: OpenExperts, locale: str) -> None:
    async with expert_app() as app:
        await app.ask(QUESTIONS[locale], conversation_id="c")
        turn = await app.ask(NO[locale], conversation_id="c")
        assert turn.answer == prompts_for(locale).text("experts.not_asked")
        assert (turn.outcome, turn.reason) == (Outcome.REFUSED, "nothing_found")
        assert await app.experts.list() == []
        later = await app.ask(YES[locale], conversation_id="c")
        assert later.outcome is not Outcome.ASKS_EXPERT


async def test_only_the_turn_that_was_just_offered_can_be_consented_to(expert_app: OpenExperts) -> None:
    async with expert_app() as app:
        await app.ask(QUESTION, conversation_id="c", user_id="ada")
        await app.ask("thanks", conversation_id="c", user_id="ada")
        await app.ask("yes", conversation_id="c", user_id="ada")
        await app.ask(QUESTION, conversation_id="c", user_id="ada")
        await app.ask("yes", conversation_id="another", user_id="ada")
        await app.ask("yes", conversation_id="c", user_id="bob")
        assert await app.experts.list() == []


async def test_a_second_yes_sends_nothing_more(expert_app: OpenExperts) -> None:
    async with expert_app() as app:
        request = await asked(app, conversation_id="c")
        again = await app.ask("yes", conversation_id="c")
        assert again.outcome is not Outcome.ASKS_EXPERT
        assert [each.id for each in await app.experts.list()] == [request.id]


async def test_a_programs_message_is_a_question_whatever_it_says(expert_app: OpenExperts) -> None:
    async with expert_app() as app:
        await app.ask(QUESTION, conversation_id="c")
        turn = await app.ask("yes", conversation_id="c", chat=False)
        assert turn.outcome is Outcome.ASKS_CONSENT
        assert await app.experts.list() == []


@pytest.mark.parametrize("experts", [{"enabled": False}, {"channel": "none"}])
async def test_without_experts_the_turn_ends_as_that_of_any_other_agent(
    expert_app: OpenExperts, experts: dict[str, object]
) -> None:
    async with expert_app(experts=experts) as app:
        turn = await app.ask(QUESTION, conversation_id="c")
        assert (turn.outcome, turn.reason) == (Outcome.REFUSED, "nothing_found")
        assert turn.answer == prompts_for("en").text("refusal.nothing_found")
        assert await rows(app, "SELECT * FROM expert_requests") == []


async def test_a_word_that_is_a_no_in_two_languages_is_answered_in_that_of_the_offer(expert_app: OpenExperts) -> None:
    async with expert_app() as app:
        await app.ask(QUESTIONS["it"], conversation_id="c")
        turn = await app.ask("No", conversation_id="c")
        assert turn.answer == prompts_for("it").text("experts.not_asked")


async def test_an_agent_that_can_ask_experts_says_so(expert_app: OpenExperts) -> None:
    can = prompts_for("en").text("meta.can_ask_expert")
    async with expert_app() as app:
        assert can in (await app.ask("What can you do?")).answer
        assert can not in (await app.ask("What can you do?", agent=None)).answer
    async with expert_app(experts={"enabled": False}) as app:
        assert can not in (await app.ask("What can you do?")).answer


async def test_the_raw_message_is_nowhere_in_what_waits(expert_app: OpenExperts) -> None:
    paste = "<document>\nThe vault code is 7431.\n</document>\n\nHow much is the night bus to Bergen?"
    async with expert_app() as app:
        request = await asked(app, paste, conversation_id="c")
        assert request.text == QUESTION
        names = ("expert_requests", "condensery_runs.wf_ticks", "condensery_runs.wf_events")
        for name in (*names, "condensery_runs.workflow_state", "condensery_runs.wf_handlers"):
            stored = str(await rows(app, f"SELECT t::text FROM {name} t"))  # noqa: S608
            assert stored != "[]"
            assert "7431" not in stored


async def test_evidence_in_which_nothing_answers_ends_in_the_offer_too(corpus_settings: Settings) -> None:
    settings = Settings.model_validate({**corpus_settings.model_dump(), **AGENTS, "llm": {"model": "none"}})
    async with open_services(settings) as services, aclosing(ExpertApp(services)) as app:
        answered = await app.ask("What does the annual pass cost?", conversation_id="c")
        assert answered.outcome is Outcome.ANSWERED
        offer = await app.ask("Who composed the opera Rigoletto?", conversation_id="c")
        assert offer.outcome is Outcome.ASKS_CONSENT
        assert (await app.ask("yes", conversation_id="c")).outcome is Outcome.ASKS_EXPERT


@pytest.mark.parametrize(
    ("message", "given"),
    [
        ("Yes", True),
        ("yes, thank you!", True),
        ("Go ahead.", True),
        ("Ja, bitte", True),
        ("D’accord", True),
        ("Si", True),
        ("no", False),
        ("Please don’t.", False),
        ("Lieber nicht", False),
        ("👍", None),
        ("", None),
        ("yes, but which bus?", None),
        ("Is there a night bus?", None),
        ("yes " * 100, None),
    ],
)
def test_only_a_whole_yes_or_no_is_one(message: str, given: bool | None) -> None:
    consent = consent_in(message, "en")
    assert (consent and consent.given) == given


@pytest.mark.parametrize("locale", LOCALES)
def test_no_phrase_means_both_or_stands_in_a_form_that_is_never_matched(locale: str) -> None:
    consent = prompts_for(locale).consent
    assert set(consent) == {"yes", "no"}
    assert not set(consent["yes"]) & set(consent["no"])
    for given, name in ((True, "yes"), (False, "no")):
        for phrase in consent[name]:
            assert consent_in(phrase, locale) == (given, locale)
