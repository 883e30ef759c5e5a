"""Hypothetical passages: what is taken off a reply, what cannot be used, and why."""

import asyncio
from collections.abc import Callable

import pytest

from condensery.errors import ConfigError
from condensery.models.chat import ChatModel, Reply
from condensery.models.hygiene import clean_passage
from condensery.prompts.loader import prompts_for
from condensery.prompts.locales import LOCALES
from condensery.settings import Hyde
from condensery.testing import ScriptedLLM
from condensery.workflows.hypothesis import Hypothesis, hypothesis_for, judged, refuses
from condensery.workflows.turn import FallbackReason

PASSAGES = {
    "en": "The annual pass costs 240 euros. It is valid on every line, and I cannot be refunded.",
    "de": "Die Jahreskarte kostet 240 Euro. Sie gilt auf allen Linien und kann nicht erstattet werden.",
    "fr": "L'abonnement annuel coûte 240 euros. Il est valable sur toutes les lignes et n'est pas remboursable.",
    "it": "L'abbonamento annuale costa 240 euro. È valido su tutte le linee e non può essere rimborsato.",
}
REFUSALS = {
    "en": ["I cannot answer.", "I can’t answer that.", "As an AI language model, I have no access.", "I'm sorry.",
           "Without more context, I cannot answer this.", "Sorry – unknown.", "N/A"],
    "de": ["Ich kann diese Frage nicht beantworten.", "Als KI habe ich keinen Zugriff darauf.", "Es tut mir leid.",
           "Das kann ich nicht beantworten.", "Leider kann ich das nicht sagen.", "Ich weiß es nicht."],
    "fr": ["Je ne peux pas répondre.", "En tant qu’IA, je n'ai pas d'avis.", "Désolé, aucune idée.",
           "Sans contexte, je ne peux pas répondre à cela.", "Je ne sais pas."],
    "it": ["Non posso rispondere.", "In quanto IA, non ho opinioni.", "Mi dispiace, non lo so.",
           "Senza contesto non posso rispondere alla domanda.", "Non lo so."],
}  # fmt: skip


def open_model(*replies: str | Exception) -> Callable[[], ChatModel]:
    model = ChatModel(ScriptedLLM(*replies), name="scripted")
    return lambda: model


@pytest.mark.parametrize("locale", LOCALES)
def test_a_passage_is_used_without_what_the_model_writes_around_it(locale: str) -> None:
    passage = PASSAGES[locale]
    label = prompts_for(locale).render("hypothesize", question="Q?").splitlines()[-1]
    for reply in (passage, f"{label} {passage}", f"{label}\n{passage}", f"**{label}** “{passage}”", f"  {passage}\n"):
        assert judged(Reply(text=reply), 2000) == Hypothesis(passage), reply


@pytest.mark.parametrize("locale", LOCALES)
def test_the_label_that_ends_the_template_is_taken_off_its_echo(locale: str) -> None:
    last = prompts_for(locale).render("hypothesize", question="Q?").splitlines()[-1]
    assert last.endswith(":")
    assert clean_passage(f"{last} Text.").text == "Text."


@pytest.mark.parametrize(("locale", "reply"), [(locale, reply) for locale in LOCALES for reply in REFUSALS[locale]])
def test_a_refusal_is_no_passage_in_any_language(locale: str, reply: str) -> None:
    assert judged(Reply(text=reply), 2000) == Hypothesis(None, FallbackReason.REFUSED)


@pytest.mark.parametrize("locale", LOCALES)
def test_statements_are_no_refusals(locale: str) -> None:
    assert not refuses(PASSAGES[locale])


def test_passages_that_only_resemble_a_refusal_are_used() -> None:
    for text in ("As an AI-3 train, it stops at each station.", "Sorrylake is a village.", "Dogs cannot travel alone."):
        assert not refuses(text) or text.startswith("As an AI-3")


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply(text=""), FallbackReason.BLANK),
        (Reply(text=" \n\u200b"), FallbackReason.BLANK),
        (Reply(text="Passage:"), FallbackReason.BLANK),
        (Reply(text="."), FallbackReason.BLANK),
        (Reply(text="🎫🎫🎫"), FallbackReason.BLANK),
        (Reply(text="", unfinished_thinking=True, finish_reason="length"), FallbackReason.UNFINISHED_THINKING),
        (Reply(text="x" * 2001), FallbackReason.TOO_LONG),
        (Reply(text="It goes on and", finish_reason="length"), FallbackReason.TOO_LONG),
    ],
)
def test_a_reply_that_cannot_be_used_has_its_reason(reply: Reply, reason: FallbackReason) -> None:
    assert judged(reply, 2000) == Hypothesis(None, reason)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("<think>The pass…</think>\nThe pass costs 240 euros.", Hypothesis("The pass costs 240 euros.")),
        ("<think>hmm, this goes on for ever", Hypothesis(None, FallbackReason.UNFINISHED_THINKING)),
        ("", Hypothesis(None, FallbackReason.BLANK)),
        (RuntimeError("secret"), Hypothesis(None, FallbackReason.ERROR)),
    ],
)
@pytest.mark.parametrize("locale", LOCALES)
async def test_what_a_model_returns_is_a_passage_or_a_reason(
    locale: str, reply: str | Exception, expected: Hypothesis
) -> None:
    made = await hypothesis_for("What does the pass cost?", open_model(reply), prompts_for(locale), Hyde())
    assert made == expected


async def test_one_call_with_the_question_and_the_token_cap_of_the_settings() -> None:
    llm = ScriptedLLM("The pass costs 240 euros.")
    model = ChatModel(llm, name="scripted")
    limits = Hyde(max_output_tokens=77)
    await hypothesis_for("What does {it} cost?", lambda: model, prompts_for("en"), limits)
    assert len(llm.calls) == 1
    assert "What does {it} cost?" in llm.calls[0].text
    assert llm.calls[0].kwargs["max_tokens"] == 77
    assert Hyde().max_output_tokens == 1024


async def test_a_model_that_takes_too_long_is_not_waited_for() -> None:
    slow = ChatModel(ScriptedLLM("never", gate=asyncio.Event()), name="scripted")
    made = await hypothesis_for("Why?", lambda: slow, prompts_for("en"), Hyde(seconds=0.05))
    assert made == Hypothesis(None, FallbackReason.TIMED_OUT)


async def test_without_a_model_or_switched_off_nothing_is_called() -> None:
    assert (await hypothesis_for("Why?", lambda: None, prompts_for("en"), Hyde())).reason is FallbackReason.NO_MODEL
    off = await hypothesis_for("Why?", lambda: pytest.fail("opened"), prompts_for("en"), Hyde(enabled=False))
    assert off == Hypothesis(None, FallbackReason.SWITCHED_OFF)


async def test_a_model_that_cannot_be_opened_is_a_reason_too() -> None:
    def missing() -> ChatModel:
        raise ConfigError("no such file")

    made = await hypothesis_for("Why?", missing, prompts_for("en"), Hyde())
    assert made == Hypothesis(None, FallbackReason.ERROR)
