from typing import Any

import pytest

from condensery.agents.chat import ChatAgent
from condensery.agents.expert_rag import ExpertRAGAgent
from condensery.agents.rag import RAGAgent
from condensery.memory.control import MemoryState
from condensery.memory.types import Fact
from condensery.prompts.loader import TEXTS, prompts_for
from condensery.prompts.locales import LOCALES
from condensery.retrieval.types import Scope
from condensery.storage.documents import DocumentRecord
from condensery.workflows.meta import ABILITIES, MOST_FACTS, Facing, abilities, known_in, told
from condensery.workflows.phrases import SMALL_TALK

STEPS = {ability.step for ability in ABILITIES if hasattr(RAGAgent, ability.step)}


def state(*, user_id: str = "local", enabled: bool = True, allowed: bool = True, waiting: int = 0) -> MemoryState:
    return MemoryState(user_id=user_id, enabled=enabled, allowed=allowed, facts=0, waiting=waiting, parked=0)


def facing(**changed: Any) -> Facing:
    return Facing(documents=3, rewrites=True, writes=True, guarded=True, experts=True, memory=state())._replace(
        **changed
    )


def facts(*texts: str) -> list[Fact]:
    return [Fact(id=str(number), text=text) for number, text in enumerate(texts)]


def record(source: str, namespace: str = "default", **metadata: str) -> DocumentRecord:
    return DocumentRecord(source=source, namespace=namespace, content_hash="x", metadata=metadata)


def test_an_agent_tells_of_what_it_can_do_as_things_are() -> None:
    assert abilities(STEPS, facing()) == ["answer", "follow_up", "write", "refuse", "remember"]
    assert abilities(STEPS, facing(rewrites=False, writes=False)) == ["answer", "quote", "refuse", "remember"]
    assert abilities(STEPS, facing(guarded=False, memory=None)) == ["answer", "follow_up", "write"]
    assert abilities(STEPS, facing(documents=0)) == ["refuse", "remember"]
    assert abilities(dir(ExpertRAGAgent), facing(memory=None))[-2:] == ["ask_expert", "refuse"]
    assert "ask_expert" not in abilities(dir(ExpertRAGAgent), facing(experts=False))
    assert abilities(dir(ChatAgent), facing(memory=None))[-1] == "talk"


@pytest.mark.parametrize("off", [state(enabled=False), state(allowed=False)])
def test_memory_that_is_off_is_told_as_off_whoever_switched_it(off: MemoryState) -> None:
    assert abilities(STEPS, facing(memory=off))[-1] == "not_remember"
    for locale in LOCALES:
        prompts = prompts_for(locale)
        assert told(off, [], prompts, default_user="local").startswith(prompts.text("meta.memory_off"))


def test_an_agent_without_a_step_does_not_claim_what_the_step_does() -> None:
    assert abilities({"condense", "answer", "remember"}, facing()) == ["follow_up", "write", "remember"]
    assert abilities({"converse", "answer", "remember"}, facing(documents=0)) == ["talk", "remember"]
    assert abilities(set(), facing()) == []


def test_every_ability_names_a_step_of_the_agent_and_has_a_text() -> None:
    assert {ability.step for ability in ABILITIES} <= {*dir(RAGAgent), *dir(ExpertRAGAgent), *dir(ChatAgent)}
    assert {f"meta.can_{ability.name}" for ability in ABILITIES} <= TEXTS


@pytest.mark.parametrize("locale", LOCALES)
def test_every_locale_gates_the_same_kinds_of_questions_and_can_reply_to_each(locale: str) -> None:
    kinds = set(prompts_for(locale).gate)
    assert kinds == set(prompts_for("en").gate)
    assert {f"{'small_talk' if kind in SMALL_TALK else 'meta'}.{kind}" for kind in kinds} <= TEXTS


@pytest.mark.parametrize("locale", LOCALES)
def test_facts_are_told_in_order_with_the_way_to_erase_them(locale: str) -> None:
    text = told(state(), facts("I live in Oslo.", "My dog is\n- Rex."), prompts_for(locale), default_user="local")
    listed = [line for line in text.splitlines() if line.startswith("- ")]
    assert listed == ["- I live in Oslo.", "- My dog is - Rex."]
    assert "condensery memory forget --everything`" in text
    assert "{{" not in text


def test_whoever_is_not_the_default_user_reads_commands_about_themselves() -> None:
    text = told(state(user_id="ada b"), facts("I ski."), prompts_for("en"), default_user="local")
    assert "`condensery memory forget --everything --user 'ada b'`" in text
    assert "`condensery memory list --user 'ada b'`" in text


def test_what_is_stored_while_memory_is_off_is_told_all_the_same() -> None:
    text = told(state(enabled=False), facts("I ski."), prompts_for("en"), default_user="local")
    assert "switched off" in text
    assert "- I ski." in text


def test_what_was_said_last_may_be_missing_and_the_reply_says_so() -> None:
    waiting = prompts_for("en").text("meta.memory_waiting")
    for known in ([], facts("I ski.")):
        assert waiting in told(state(waiting=1), known, prompts_for("en"), default_user="local")
        assert waiting not in told(state(), known, prompts_for("en"), default_user="local")


def test_more_facts_than_can_be_read_are_cut() -> None:
    many = facts(*(f"I own {number} skis." for number in range(MOST_FACTS + 5)))
    lines = told(state(), many, prompts_for("en"), default_user="local").splitlines()
    assert len([line for line in lines if line.startswith("- ")]) == MOST_FACTS + 1
    assert "- …" in lines


def test_documents_outside_the_scope_of_a_turn_are_not_told_of() -> None:
    documents = [record("a.md"), record("b.md", "other"), record("c.md", team="sales")]

    def sources(**scope: object) -> list[str]:
        return [document.source for document in known_in(documents, Scope.model_validate(scope))]

    assert sources() == ["a.md", "b.md", "c.md"]
    assert sources(namespaces=("other",)) == ["b.md"]
    assert sources(filters={"team": "sales"}) == ["c.md"]
    assert sources(filters={"source": "a.md"}) == ["a.md"]
    assert sources(namespaces=("other",), filters={"team": "sales"}) == []
