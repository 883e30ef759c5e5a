"""Named agents over the real corpus: each with settings, prompts, documents and a language of its own."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from condensery.agents.chat import ChatAgent
from condensery.app import open_app
from condensery.errors import ConfigError, RefusalReason, UnknownName
from condensery.memory.types import NewFact, user_scope
from condensery.models.chat import ChatModel
from condensery.prompts.loader import prompts_for
from condensery.settings import Memory, Settings, load_settings
from condensery.settings_profiles import Profile, settings_of
from condensery.testing import ScriptedLLM
from condensery.tests.app.helpers import OpenApp, events_of, finished, kinds, rows
from condensery.workflows.events import ChatStart, TurnFinished
from condensery.workflows.starting import turn_options, turn_start
from condensery.workflows.turn import Outcome

ROOT = Path(__file__).parents[2]
EXAMPLES = str(ROOT / "examples" / "classify.toml")
ANNUAL = "What does the annual pass cost?"


def declared(settings: Settings, **agents: dict[str, Any]) -> Settings:
    """The settings with these agents."""
    return settings.model_copy(update={"agents": {name: Profile(**values) for name, values in agents.items()}})


async def test_an_agent_has_the_settings_of_all_and_over_them_its_own(corpus_settings: Settings) -> None:
    agents = {"brief": {"retrieval": {"top_k": 1}, "condense": {"engine": "simple"}, "locale": "fr"}}
    async with open_app(declared(corpus_settings, **agents)) as app:
        everybody, brief = await app.ask(ANNUAL), await app.ask(ANNUAL, agent="brief")
    assert (len(everybody.evidence), everybody.engine) == (5, "expand_context")
    assert (len(brief.evidence), brief.engine) == (1, "simple")


async def test_it_takes_changes_at_run_time_but_where_it_has_its_own(corpus_settings: Settings) -> None:
    async with open_app(declared(corpus_settings, brief={"retrieval": {"top_k": 1}})) as app:
        await app.set_settings({"retrieval.top_k": 3, "condense.engine": "simple"})
        try:
            turn = await app.ask(ANNUAL, agent="brief")
        finally:
            await app.reset_settings("retrieval.top_k", "condense.engine")
    assert (len(turn.evidence), turn.engine) == (1, "simple")


async def test_it_searches_its_own_part_of_the_index_and_no_caller_leaves_it(corpus_settings: Settings) -> None:
    async with open_app(declared(corpus_settings, empty={"namespaces": ["elsewhere"]})) as app:
        turn = await app.ask(ANNUAL, agent="empty")
        assert (turn.outcome, turn.evidence) == (Outcome.REFUSED, ())
        with pytest.raises(ConfigError, match="searches elsewhere and nothing else, got default"):
            await app.ask(ANNUAL, agent="empty", namespaces=["default"])


async def test_its_templates_stand_for_the_built_in_ones(
    corpus_settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "de").mkdir()
    (tmp_path / "system.md").write_text("You are terse.")
    (tmp_path / "de" / "system.md").write_text("Du bist knapp.")
    async with open_app(declared(corpus_settings, terse={"prompts": tmp_path})) as app:
        prompts = app.services_of("terse").prompts
        assert prompts.render("system") == "You are terse."
        assert prompts.in_locale("de").render("system") == "Du bist knapp."
        assert prompts.render("hypothesize", question="Q") == prompts_for("en").render("hypothesize", question="Q")
        assert app.services.prompts.render("system") == prompts_for("en").render("system")


@pytest.mark.parametrize(
    ("agent", "told"),
    [
        (
            {"condense": {"engin": "simple"}},
            "condense.engin (agents.a): no such setting; did you mean condense.engine?",
        ),
        ({"condense": {"engine": "x"}}, "condense.engine (agents.a): got 'x'"),
        ({"retrieval": {"top_k": 50}}, "retrieval.candidates must be at least retrieval.top_k"),
        ({"app": {"port": 1}}, "app.port (agents.a): it is the same for all agents"),
        ({"experts": {"attempts": 1}}, "experts.attempts (agents.a): questions of all agents go the same way"),
        ({"memory": {"approvers": "ada"}}, "memory.approvers (agents.a): it is the same for all agents"),
        ({"data_dir": "elsewhere"}, "data_dir (agents.a): it is the same for all agents"),
        ({"prompts": "no/such/folder"}, "no/such/folder is no folder with a template"),
        ({"kind": "few_shot", "examples": "no/such.toml"}, "no/such.toml: the examples cannot be read"),
        ({"few_shot": {"guard_examples": "no/such.toml"}}, "no/such.toml: the examples cannot be read"),
        ({"llm": {"model": "no/such.gguf"}}, "agents.a.llm.model"),
        ({"condense": {"model": "no/such.gguf"}}, "no/such.gguf"),
        ({"retrieval": {"method": "reranked"}, "rerank": {"model": "no/such"}}, "no/such"),
    ],
)
async def test_an_agent_that_names_what_does_not_exist_is_refused_at_start(
    corpus_settings: Settings, agent: dict[str, Any], told: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        async with open_app(declared(corpus_settings, a=agent, fine={})):
            pass
    assert "the agent a cannot be used" in str(refused.value)
    assert told in str(refused.value)


async def test_every_agent_that_cannot_be_used_is_named_at_once(corpus_settings: Settings) -> None:
    with pytest.raises(ConfigError) as refused:
        async with open_app(declared(corpus_settings, one={"foo": 1}, two={"condense": {"engine": "x"}})):
            pass
    assert "the agent one cannot" in str(refused.value)
    assert "the agent two cannot" in str(refused.value)


@pytest.mark.parametrize(
    ("agents", "told"),
    [
        ({"Support": {}}, "agents.Support (argument)"),
        ({"rag": {}}, "cannot be called rag"),
        (
            {"a": {"kind": "magic"}},
            "agents.a.kind (argument): got 'magic'; must be 'rag', 'expert_rag', 'chat' or 'few_shot'",
        ),
        ({"a": {"kind": "few_shot"}}, "examples = FILE belongs to an agent of the kind few_shot"),
        ({"a": {"examples": "a.toml"}}, "examples = FILE belongs to an agent of the kind few_shot"),
        ({"a": {"namespaces": ["no good"]}}, "agents.a.namespaces.0 (argument): got 'no good'"),
        ({"a": 3}, "agents.a (argument): got 3"),
    ],
)
def test_a_declaration_that_is_none_is_refused_with_its_place(agents: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError) as refused:
        load_settings(agents=agents)
    assert told in str(refused.value)


def test_a_key_of_an_endpoint_is_not_shown(tmp_path: Path) -> None:
    agents = {"a": {"llm": {"model": "openai:http://127.0.0.1:1/v1#m", "api_key": "sesame"}, "foo": 1}}
    settings = load_settings(agents=agents)
    assert "sesame" not in repr(settings)
    with pytest.raises(ConfigError) as refused:
        settings_of(settings, "a")
    assert "sesame" not in str(refused.value)


async def test_an_unknown_agent_lists_those_there_are(corpus_settings: Settings) -> None:
    async with open_app(declared(corpus_settings, one={})) as app:
        with pytest.raises(UnknownName, match="no agent 'two'; choose one of default, one"):
            await app.ask(ANNUAL, agent="two")


async def test_an_agent_that_labels_is_not_asked_and_one_that_answers_has_no_labels(corpus_settings: Settings) -> None:
    agents = {"tickets": {"kind": "few_shot", "examples": EXAMPLES}, "docs": {}}
    async with open_app(declared(corpus_settings, **agents)) as app:
        found = await app.classify("Do pensioners get cheaper tickets?", agent="tickets")
        assert found.label == "fares"
        with pytest.raises(ConfigError, match="answers no questions"):
            await app.ask(ANNUAL, agent="tickets")
        with pytest.raises(ConfigError, match="is of the kind rag and has no labels"):
            await app.classify(ANNUAL, agent="docs")
        assert await rows(app, "SELECT * FROM turns WHERE message LIKE 'Do pensioners%'") == []


async def test_the_answer_comes_in_the_language_of_the_message(corpus_app: OpenApp) -> None:
    nothing = {locale: prompts_for(locale).text("refusal.nothing_found") for locale in ("en", "de", "fr", "it")}
    asked = {
        "en": "Who won the chess match in Reykjavik?",
        "de": "Wer hat in Reykjavik die Schachpartie gewonnen?",
        "fr": "Qui a gagné la partie d'échecs à Reykjavik ?",
        "it": "Chi ha vinto la partita di scacchi a Reykjavik?",
    }
    async with corpus_app(retrieval={"min_similarity": 1.0, "method": "semantic"}) as app:
        answers = {locale: (await app.ask(message)).answer for locale, message in asked.items()}
        assert answers == nothing
        follow_up = await app.ask(asked["de"], conversation_id="in-german")
        follow_up = await app.ask("Reykjavik 1972?", conversation_id="in-german")
        assert follow_up.answer == nothing["de"]
        assert (await app.ask("Reykjavik 1972?")).answer == nothing["en"]
    async with corpus_app(
        retrieval={"min_similarity": 1.0, "method": "semantic"}, answer={"language": "locale"}
    ) as app:
        assert (await app.ask(asked["de"])).answer == nothing["en"]


# --- the agent without documents ---


def start(message: str) -> ChatStart:
    options = turn_options(engine=None, method=None, namespaces=(), filters=None)
    return turn_start(message, options, conversation_id=None, user_id=None, chat=True)


def chatting(settings: Settings) -> Settings:
    return declared(settings, talk={"kind": "chat"})


async def test_the_chat_agent_searches_nothing_and_tells_what_it_remembers(corpus_settings: Settings) -> None:
    async with open_app(chatting(corpus_settings)) as app:
        await app.services.memory.remember([NewFact(text="I live in Oslo.", slot="home")], scope=user_scope("ada"))
        events = await events_of(app, "Where do I live?", agent="talk", user_id="ada")
        turn = finished(events)
        assert "I live in Oslo." in turn.answer
        assert "SearchStarted" not in kinds(events)
        assert turn.evidence == ()
        assert turn.memories
        other = await app.ask("Where do I live?", agent="talk", user_id="bob")
        assert (other.reason, other.memories) == (RefusalReason.NO_MODEL, ())


async def test_with_a_model_it_gets_the_persons_own_words_and_no_document(corpus_settings: Settings) -> None:
    llm = ScriptedLLM("Oslo is lovely.")
    async with open_app(chatting(corpus_settings)) as app:
        model = ChatModel(llm, name="scripted", context_window=4096)
        agent = ChatAgent(replace(app.services_of("talk"), model=model))
        done: TurnFinished = await agent.run(start_event=start("tell me of Oslo"))
    turn = done.turn
    assert (turn.answer, turn.answer_mode, turn.evidence) == ("Oslo is lovely.", "generated", ())
    [asked] = llm.calls
    assert asked.messages[-1].content == "tell me of Oslo"
    assert "[1]" not in asked.text


async def test_it_remembers_what_a_person_says_and_no_answer_of_its_own(corpus_settings: Settings) -> None:
    settings = chatting(corpus_settings.model_copy(update={"memory": Memory(in_process=False)}))
    async with open_app(settings) as app:
        await app.ask("I am a vegetarian. What shall I cook?", agent="talk", user_id="eve")
        while await app.write_memory():
            pass
        assert [fact.text for fact in await app.memory.list("eve")] == ["I am a vegetarian."]


async def test_asked_what_it_can_do_it_speaks_of_no_documents(corpus_settings: Settings) -> None:
    async with open_app(chatting(corpus_settings)) as app:
        told = (await app.ask("What can you do?", agent="talk", user_id="ada")).answer
        assert "document" not in told
        documents = (await app.ask("Which documents do you know?", agent="talk")).answer
    assert documents == prompts_for("en").text("meta.can_talk")
