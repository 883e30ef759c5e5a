import pytest

from condensery.errors import UnknownName
from condensery.models.chat import ChatModel
from condensery.prompts.loader import prompts_for
from condensery.settings import load_settings
from condensery.testing import ScriptedLLM
from condensery.workflows.engines.expand_context import ExpandContext
from condensery.workflows.engines.grounding import is_grounded
from condensery.workflows.engines.references import cues_for, depends
from condensery.workflows.engines.table import ENGINES, open_engine
from condensery.workflows.turn import Exchange, FallbackReason

HISTORY = (Exchange(message="How tall is the Morlenz tower?", answer="It is 81 metres tall."),)
SETTINGS = load_settings()


async def rewritten(reply: str, message: str = "And when was it built?") -> tuple[str, FallbackReason | None]:
    model = ChatModel(ScriptedLLM(reply), name="scripted", context_window=4096)
    engine = open_engine("condense_context", SETTINGS, model, prompts_for("en"))
    prepared = await engine.prepare(message, HISTORY)
    return prepared.search_query, prepared.reason


@pytest.mark.parametrize(
    "reply",
    [
        "When was the Morlenz tower built?",
        "Standalone question: When was the Morlenz tower built?",
        "The rephrased question is: When was the Morlenz tower built?",
        '"When was the Morlenz tower built?"',
        "<think>the tower, so</think>When was the Morlenz tower built?",
        "When was the Morlenz tower built?\nUser: and who paid?",
    ],
)
async def test_a_rewrite_is_searched_without_prefaces_thoughts_and_invented_turns(reply: str) -> None:
    assert await rewritten(reply) == ("When was the Morlenz tower built?", None)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", FallbackReason.BLANK),
        (" \n ", FallbackReason.BLANK),
        ("<think>hmm, the person asks", FallbackReason.UNFINISHED_THINKING),
        ("When was it built? " * 60, FallbackReason.TOO_LONG),
        ("When was the Eiffel Tower in Paris built?", FallbackReason.UNGROUNDED),
        ("Was the Morlenz tower built in 1889?", FallbackReason.UNGROUNDED),
    ],
)
async def test_an_unusable_rewrite_becomes_the_message_with_its_reason(reply: str, reason: FallbackReason) -> None:
    assert await rewritten(reply) == ("And when was it built?", reason)


async def test_without_a_model_the_message_is_searched_and_the_reason_named() -> None:
    prepared = await open_engine("condense_context", SETTINGS, None, prompts_for("en")).prepare("And when?", HISTORY)
    assert (prepared.search_query, prepared.reason) == ("And when?", FallbackReason.NO_MODEL)


async def test_the_rewrite_prompt_never_carries_a_pasted_block() -> None:
    llm = ScriptedLLM("When was the Morlenz tower built?")
    engine = open_engine("condense_context", SETTINGS, ChatModel(llm, name="s", context_window=4096), prompts_for("en"))
    pasted = Exchange(message=f"<context>{'MARK ' * 300}</context> How tall is the tower?", answer="81 metres.")
    await engine.prepare("And when was it built?", (pasted,))
    assert "MARK" not in llm.calls[0].text
    assert "How tall is the tower?" in llm.calls[0].text


@pytest.mark.parametrize(
    "message",
    [
        "How long is it?",
        "And on Sundays?",
        "Which month?",
        "What about a bike?",
        "Who does he report to?",
        "During probation?",
        "Und am Sonntag?",
        "Wie lang ist sie?",
        "Et le dimanche ?",
        "E la domenica?",
        "Quanto è lungo questo?",
    ],
)
def test_a_message_that_leans_on_earlier_turns_is_recognised(message: str) -> None:
    assert depends(message, cues_for(message, "en"))


@pytest.mark.parametrize(
    "message",
    [
        "Can I bring my own bottle of wine to the restaurant?",
        "Is there a discount for groups of hikers?",
        "How many passengers did the railway carry in 2024?",
        "Wie viele Fahrgäste beförderte die Bahn im Jahr 2024?",
        "Combien de voyageurs le chemin de fer a transportés en 2024 ?",
        "Quanti passeggeri ha trasportato la ferrovia nel 2024?",
        "ราคาตั๋วไปกลับสำหรับผู้ใหญ่จากทาร์เนลถึงกุล์มเท่าไหร่",
    ],
)
def test_a_message_that_stands_alone_is_searched_as_it_is(message: str) -> None:
    assert not depends(message, cues_for(message, "en"))


async def test_expansion_names_the_subject_and_keeps_the_message() -> None:
    engine = ExpandContext(SETTINGS.condense, "en")
    prepared = await engine.prepare(
        "Which month?", (Exchange(message="When is the rope test due?", answer="In 2026."),)
    )
    assert "rope test" in prepared.search_query
    assert prepared.search_query.endswith("Which month?")


async def test_expansion_reaches_back_to_the_last_message_that_stands_alone() -> None:
    history = (
        Exchange(message="What does the hotel charge for parking a car?", answer="12 francs."),
        Exchange(message="How long is the notice period of a driver?", answer="Two months."),
        Exchange(message="And in winter?", answer="The same."),
    )
    prepared = await ExpandContext(SETTINGS.condense, "en").prepare("During probation?", history)
    assert "notice period" in prepared.search_query
    assert "parking" not in prepared.search_query


async def test_expansion_is_never_longer_than_allowed() -> None:
    history = tuple(Exchange(message=f"And then {'word ' * 60}?", answer="x") for _ in range(9))
    prepared = await ExpandContext(SETTINGS.condense, "en").prepare("And it?", history)
    assert len(prepared.search_query) <= SETTINGS.condense.max_chars


def test_an_unknown_engine_lists_the_choices() -> None:
    choices = "condense_context, expand_context, fuse_context, simple"
    with pytest.raises(UnknownName, match=f"no chat engine 'condens'; choose one of {choices}"):
        open_engine("condens", SETTINGS, None, prompts_for("en"))
    assert set(ENGINES) == set(choices.split(", "))


def test_grounding_lets_in_a_new_word_but_no_new_name_or_number() -> None:
    said = "How long is it? The track of the Morlenz Railway."
    assert is_grounded("What is the length of the Morlenz Railway track?", said)
    assert not is_grounded("What is the length of the Gotthard track?", said)
    assert not is_grounded("How long is the track of 1911?", said)
