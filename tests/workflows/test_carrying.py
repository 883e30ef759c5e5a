"""What a search is given of the turns before: how much, from what, and how it is fused with a rewrite."""

import pytest

from condensery.models.chat import ChatModel
from condensery.prompts.loader import prompts_for
from condensery.prompts.locales import LOCALES
from condensery.retrieval.types import Probe
from condensery.settings import load_settings
from condensery.testing import ScriptedLLM
from condensery.workflows.engines.base import PreparedQuery
from condensery.workflows.engines.expand_context import ANSWER_CHARS, ExpandContext
from condensery.workflows.engines.fuse_context import FuseContext
from condensery.workflows.engines.references import cues_for, leaning
from condensery.workflows.engines.safety import usable
from condensery.workflows.engines.table import open_engine
from condensery.workflows.turn import Exchange, FallbackReason

SETTINGS = load_settings()
HISTORY = (
    Exchange(message="Who keeps the Morlenz tower?", answer="The heritage society keeps the tower."),
    Exchange(message="How tall is the Morlenz tower?", answer="It is 81 metres tall."),
)


async def expanded(message: str, history: tuple[Exchange, ...] = HISTORY) -> PreparedQuery:
    return await ExpandContext(SETTINGS.condense, "en").prepare(message, history)


async def fused(reply: str, message: str = "And when was it built?") -> PreparedQuery:
    model = ChatModel(ScriptedLLM(reply), name="scripted", context_window=4096)
    return await FuseContext(SETTINGS, model, prompts_for("en")).prepare(message, HISTORY)


async def test_what_is_asked_counts_in_full_and_the_newest_turn_more_than_the_one_before() -> None:
    asked, question, answer, earlier_question, earlier_answer = (await expanded("And when was it built?")).probes
    assert asked == Probe(text="And when was it built?")
    assert 1 > question.dense > earlier_question.dense > 0
    assert 1 > answer.lexical > earlier_answer.lexical > 0
    assert [question.text, answer.text] == [HISTORY[1].message, HISTORY[1].answer]
    assert [earlier_question.text, earlier_answer.text] == [HISTORY[0].message, HISTORY[0].answer]


async def test_the_more_a_message_says_itself_the_less_is_lent_to_it() -> None:
    cues = cues_for("x", "en")
    strengths = [
        leaning(message, cues)
        for message in (
            "why?",
            "and its roof?",
            "when was its roof repaired by the heritage society?",
            "When was the roof of the Morlenz tower repaired by the heritage society?",
        )
    ]
    assert strengths == sorted(strengths, reverse=True)
    assert (strengths[0], strengths[-1]) == (1.0, 0.0)


@pytest.mark.parametrize(
    "message",
    [
        "If the tower is closed in winter, where can a visitor with a ticket see it from outside?",
        "How many visitors may climb the old bell tower in one group during summer?",
        "ร้านอาหารบนยอดเขามอร์เลนซ์เปิดให้บริการวันอาทิตย์ตั้งแต่กี่โมงถึงกี่โมง",
        "Wie viele Besucher durften den alten Glockenturm im Sommer 2024 gleichzeitig besteigen?",
        "Combien de visiteurs pouvaient monter en même temps dans le vieux clocher en été 2024 ?",
        "Quanti visitatori potevano salire insieme sul vecchio campanile nell'estate del 2024?",
    ],
)
async def test_a_message_that_stands_alone_is_searched_with_as_it_is(message: str) -> None:
    assert await expanded(message) == PreparedQuery(message, message)


@pytest.mark.parametrize(
    ("message", "locale"),
    [("Which month?", "en"), ("In welchem Monat?", "de"), ("Quel mois ?", "fr"), ("In quale mese?", "it")],
)
async def test_a_question_for_a_month_alone_keeps_its_subject(message: str, locale: str) -> None:
    prepared = await ExpandContext(SETTINGS.condense, locale).prepare(message, HISTORY)
    assert "Morlenz tower" in prepared.search_query
    assert prepared.search_query.endswith(message)
    assert HISTORY[1].message in [probe.text for probe in prepared.probes]


async def test_a_short_message_without_a_reference_keeps_its_text_and_is_lent_a_little() -> None:
    prepared = await expanded("opening hours of the museum")
    assert prepared.search_query == "opening hours of the museum"
    assert 0 < prepared.probes[1].dense < (await expanded("why?")).probes[1].dense


async def test_a_long_answer_is_lent_by_its_beginning_and_counts_no_more_than_a_short_one() -> None:
    long = Exchange(message="What is there to see?", answer="The tower shows bells and clocks. " * 100)
    short = Exchange(message="What is there to see?", answer="The tower shows bells and clocks.")
    (_, _, of_long), (_, _, of_short) = [(await expanded("and when?", (turn,))).probes for turn in (long, short)]
    assert len(of_long.text) <= ANSWER_CHARS
    assert of_long.lexical < of_short.lexical
    assert of_long.dense == of_short.dense


async def test_nothing_is_lent_by_refusals_nor_by_answers_to_a_paste() -> None:
    refusal = Exchange(message="How old is the bell?", answer="I found nothing about a bell.", evidenced=False)
    paste = Exchange(message="<doc>SECRET PASTE</doc> What is in it?", answer="It says SECRET PASTE.")
    texts = [probe.text for probe in (await expanded("and when?", (paste, refusal))).probes]
    assert texts == ["and when?", "How old is the bell?", "What is in it?"]


@pytest.mark.parametrize(
    "paste",
    [
        Exchange(message="<doc>SECRET PASTE</doc> What is in it?", answer="A note."),
        Exchange(message="What is in it?", answer="A note.", evidenced=False, shortened=True),
    ],
)
async def test_what_a_model_wrote_after_a_paste_is_not_lent_either_but_quotes_are(paste: Exchange) -> None:
    later = Exchange(message="What does the note say?", answer="It says SECRET PASTE.")
    written, quoted = [
        [probe.text for probe in (await expanded("and when?", (paste, turn))).probes]
        for turn in (later, later.model_copy(update={"answer": "The tower is 81 metres tall.", "quoted": True}))
    ]
    assert written == ["and when?", "What does the note say?", "What is in it?"]
    assert "The tower is 81 metres tall." in quoted
    assert "SECRET" not in str(ExpandContext(SETTINGS.condense, "en").lent((paste, later)))


@pytest.mark.parametrize("engine", ["expand_context", "fuse_context"])
async def test_nothing_of_a_search_is_longer_than_a_question_may_be(engine: str) -> None:
    settings = load_settings(condense={"max_chars": 40})
    turn = Exchange(message="What is there to see?", answer="The tower shows bells and clocks. " * 10)
    made = await open_engine(engine, settings, None, prompts_for("en")).prepare("and when?", (turn,))
    assert len(made.probes) == 3
    assert all(len(probe.text) <= 40 for probe in made.probes)


def test_an_engine_that_searches_with_too_long_a_text_is_not_followed() -> None:
    made = PreparedQuery("and when?", "and when?", probes=(Probe(text="and when?"), Probe(text="x" * 41)))
    assert usable(made, 40) == PreparedQuery("and when?", "and when?", FallbackReason.TOO_LONG)
    assert usable(made, 41) == made


def test_what_is_lent_can_be_known_before_the_message() -> None:
    lent = ExpandContext(SETTINGS.condense, "en").lent(HISTORY)
    assert lent == [HISTORY[1].message, HISTORY[1].answer, HISTORY[0].message]
    assert ExpandContext(SETTINGS.condense, "en").lent(()) == []


async def test_a_rewrite_shares_what_is_asked_with_the_message() -> None:
    prepared = await fused("When was the Morlenz tower built?")
    assert (prepared.search_query, prepared.reason) == ("When was the Morlenz tower built?", None)
    message, rewrite, *lent = prepared.probes
    assert (message.text, rewrite.text) == ("And when was it built?", "When was the Morlenz tower built?")
    assert message.dense + rewrite.dense == pytest.approx(1)
    assert message.lexical + rewrite.lexical == pytest.approx(1)
    assert tuple(lent) == (await expanded("And when was it built?")).probes[1:]


@pytest.mark.parametrize("reply", ["", "<think>hmm", "When was the Eiffel Tower in Paris built?"])
async def test_without_a_usable_rewrite_the_carried_turns_serve_alone_and_the_reason_is_named(reply: str) -> None:
    prepared, alone = await fused(reply), await expanded("And when was it built?")
    assert (prepared.search_query, prepared.probes) == (alone.search_query, alone.probes)
    assert prepared.reason in {
        FallbackReason.BLANK,
        FallbackReason.UNFINISHED_THINKING,
        FallbackReason.UNGROUNDED,
    }


async def test_a_rewrite_that_adds_nothing_leaves_it_to_the_carried_turns() -> None:
    assert await fused("And when was it built?") == await expanded("And when was it built?")


async def test_without_a_model_the_fused_engine_says_so_and_carries() -> None:
    prepared = await FuseContext(SETTINGS, None, prompts_for("en")).prepare("And when was it built?", HISTORY)
    assert prepared.reason == FallbackReason.NO_MODEL
    assert prepared.probes == (await expanded("And when was it built?")).probes


@pytest.mark.parametrize("message", ["?", "🎫💰?", "?!", "…?"])
@pytest.mark.parametrize("locale", LOCALES)
async def test_a_message_without_a_word_goes_on_from_the_last_turn(message: str, locale: str) -> None:
    history = [Exchange(message="What does the annual pass cost?", answer="410 francs.", evidenced=True)]
    found = await ExpandContext(load_settings().condense, locale).prepare(message, history)
    assert found.reason is None
    assert found.search_query.startswith("What does the annual pass cost?")
    assert found.search_query.endswith(message)
