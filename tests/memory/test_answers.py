"""What of a turn may be looked at for facts about the person."""

import pytest

from condensery.memory.answers import own_answer, own_question
from condensery.models.chat import ChatModel
from condensery.prompts.loader import prompts_for
from condensery.retrieval.types import Chunk, Probe, ScoredChunk
from condensery.settings import load_settings
from condensery.testing import ScriptedLLM
from condensery.workflows.engines.base import PreparedQuery
from condensery.workflows.engines.expand_context import ExpandContext
from condensery.workflows.engines.fuse_context import FuseContext
from condensery.workflows.events import CondensedQuestion
from condensery.workflows.turn import Exchange, TurnKey

SETTINGS = load_settings()
LETTER = (
    "To whom it may concern. I live in Bergen. I have worked for the railway as a driver since the spring of 1998, "
    "and I ask you for a reference. Mein Vertrag wurde am 3. März gekündigt. 私はベルゲンに住んでいます。"
)
HISTORY = (Exchange(message="Where is the heritage society?", answer="I live in Bergen, says the keeper of Morlenz."),)


def evidence(*texts: str) -> tuple[ScoredChunk, ...]:
    return tuple(ScoredChunk(chunk=Chunk(id=str(at), text=text, source="a"), score=1) for at, text in enumerate(texts))


def question(prepared: PreparedQuery) -> CondensedQuestion:
    return CondensedQuestion(
        key=TurnKey(turn_id="t", conversation_id="c"),
        question=prepared.search_query,
        max_chars=512,
        engine="x",
        condensed=prepared.condensed,
        probes=prepared.probes,
    )


def test_nothing_of_a_quoted_answer_is_looked_at() -> None:
    assert own_answer("The society is in Bergen [1].", "extractive", evidence(LETTER)) == ""


def test_an_answer_in_words_of_its_own_stays_without_its_citations() -> None:
    answer = "As a driver you may ask for a reference [1]. Write to the office.\n- It is free [2]."
    kept = "As a driver you may ask for a reference. Write to the office. - It is free."
    assert own_answer(answer, "generated", evidence(LETTER)) == kept


@pytest.mark.parametrize(
    "copied",
    [
        "I live in Bergen [1].",
        "I LIVE IN BERGEN!",
        "I have worked for the railway as a driver since the spring of 1998.",
        "The letter says that I have worked for the railway as a driver, which matters [1].",
        "mein vertrag wurde am 3. marz gekundigt.",
        "私はベルゲンに住んでいます。",
        "It concerns this: concern. I live in Bergen. I have worked for it.",
    ],
)
def test_a_sentence_that_copies_a_document_is_left_out_however_it_is_written(copied: str) -> None:
    answer = f"Write to the office. {copied} It takes a week."
    assert own_answer(answer, "generated", evidence("Something else.", LETTER)).startswith("Write to the office.")
    assert own_answer(answer, "generated", evidence("Something else.", LETTER)).endswith("It takes a week.")
    assert own_answer(copied, "generated", evidence(LETTER)) == ""


def test_a_sentence_with_fewer_words_in_common_is_left_in() -> None:
    answer = "You have worked for the railway as a nurse since 1998."
    assert own_answer(answer, "generated", evidence(LETTER)) == answer


def test_a_sentence_that_repeats_what_was_recalled_is_left_out() -> None:
    answer = "As you live in Oslo, it is two months. In Bergen it is three. Your Rex stays at home."
    recalled = ["I live in Oslo.", "My dog is called Rex."]
    assert own_answer(answer, "generated", evidence(LETTER), recalled) == "In Bergen it is three."
    assert own_answer(answer, "generated", evidence(LETTER)) == answer


def test_what_a_model_copied_from_the_message_or_the_history_is_not_its_own() -> None:
    read = ["You answer from documents.", f"<context>{LETTER}</context> What does he want?"]
    answer = "He wants a reference. I live in Bergen. It is a letter."
    assert own_answer(answer, "generated", (), (), read) == "He wants a reference. It is a letter."


def test_an_answer_without_evidence_is_its_own() -> None:
    assert own_answer("You live in Oslo.", "generated", ()) == "You live in Oslo."
    assert own_answer("", "generated", evidence(LETTER)) == ""


async def test_what_an_answer_lent_to_a_question_is_not_looked_at() -> None:
    made = question(await ExpandContext(SETTINGS.condense, "en").prepare("And when was it built?", HISTORY))
    assert "Morlenz" in made.question
    assert own_question(made) == "And when was it built?"
    assert own_question(made, earlier=True) == "Where is the heritage society? And when was it built?"


async def test_a_rewritten_question_is_looked_at_as_it_was_rewritten() -> None:
    rewrite = "When was the heritage society of Morlenz built?"
    model = ChatModel(ScriptedLLM(rewrite), name="scripted", context_window=4096)
    made = question(await FuseContext(SETTINGS, model, prompts_for("en")).prepare("And when was it built?", HISTORY))
    assert own_question(made) == own_question(made, earlier=True) == rewrite


def test_a_message_that_nothing_was_lent_to_is_looked_at_as_it_is() -> None:
    assert own_question(question(PreparedQuery("I live in Oslo.", "I live in Oslo."))) == "I live in Oslo."
    lent = (Probe(text="opening hours"), Probe(text="I live in Bergen.", dense=0.3, told=True))
    assert own_question(question(PreparedQuery("opening hours", "opening hours", probes=lent))) == "opening hours"


@pytest.mark.parametrize("marks", ['""', "“”", "„“", "«»"])
def test_a_long_quotation_is_not_the_persons_own_and_a_name_in_quotes_is(marks: str) -> None:
    quoted = f"{marks[0]}I live in Bergen and work for the railway{marks[1]}"
    made = question(PreparedQuery(f"What does {quoted} mean?", "x"))
    assert own_question(made) == "What does … mean?"
    named = f"My dog is called {marks[0]}Rex{marks[1]}."
    assert own_question(question(PreparedQuery(named, named))) == named
    assert own_question(question(PreparedQuery(quoted, quoted))) == "…"
