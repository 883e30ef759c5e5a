"""Which steps can see the user's own words, read off the agent's steps."""

import typing

from llama_index.core.workflow import Event, Workflow

from condensery.agents.expert_rag import ExpertConsultation, ExpertRAGAgent
from condensery.agents.few_shot import FewShotAgent
from condensery.agents.rag import RAGAgent
from condensery.agents.title import TitleAgent
from condensery.experts.channels import CHANNELS
from condensery.experts.types import ExpertChannel
from condensery.settings import Experts
from condensery.workflows import events, expert_events
from condensery.workflows.events import OWN_WORDS

MAY_SEE_OWN_WORDS = {
    "ChatStart": {"limit_history", "gate", "finish"},
    "HistoryLimited": {"condense", "enrich_history"},
    "EnrichedHistory": {"compose"},
    "AnswerPrompt": {"answer"},
}


def consumers(agent: type[Workflow]) -> dict[str, set[str]]:
    """For each event, the steps that accept it."""
    found: dict[str, set[str]] = {}
    for name in dir(agent):
        config = getattr(getattr(agent, name), "_step_config", None)
        for event in config.accepted_events if config else []:
            found.setdefault(event.__name__, set()).add(name)
    return found


def test_the_users_own_words_reach_only_the_steps_that_may_see_them() -> None:
    accepted = consumers(RAGAgent)
    assert {event: accepted[event] for event in MAY_SEE_OWN_WORDS} == MAY_SEE_OWN_WORDS
    assert {event.__name__ for event in OWN_WORDS} - {"AgentCall"} == set(MAY_SEE_OWN_WORDS)


def test_no_other_event_can_carry_the_message_or_the_history() -> None:
    declared = {name: event for name, event in vars(events).items() if isinstance(event, type)}
    carriers = {
        name
        for name, event in declared.items()
        if issubclass(event, Event) and {"message", "history", "messages"} & set(getattr(event, "model_fields", {}))
    }
    assert carriers == set(MAY_SEE_OWN_WORDS) | {"AgentCall"}


def test_search_memory_and_guards_accept_only_the_question_or_what_descends_from_it() -> None:
    descends = {"CondensedQuestion", "SearchRequest", "SearchProbe", "Retrieved", "Ranked"}
    steps = {"few_shot_guard", "hypothesize", "retrieve", "rerank", "judge_context"}
    steps |= {"recall_user_memory", "recall_organization_memory"}
    for name in steps:
        config = getattr(RAGAgent, name)._step_config
        assert {event.__name__ for event in config.accepted_events} <= descends, name


def test_remember_sees_the_question_and_the_answer_only() -> None:
    hints = typing.get_type_hints(RAGAgent.remember)
    assert {hints["question"].__name__, hints["answered"].__name__} == {"CondensedQuestion", "Answered"}
    assert consumers(RAGAgent)["Answered"] == {"remember"}


def test_no_effect_can_run_before_the_gate_has_cleared_the_message() -> None:
    config = RAGAgent.condense._step_config  # type: ignore[attr-defined]
    assert {event.__name__ for event in config.accepted_events} == {"HistoryLimited", "ChatCleared"}
    assert consumers(RAGAgent)["ChatCleared"] == {"condense"}


def test_what_labels_a_message_and_what_titles_a_chat_see_the_question_alone() -> None:
    labelling = consumers(FewShotAgent)
    assert labelling["ChatStart"] == {"limit_history", "clear"}
    assert labelling["HistoryLimited"] == {"condense"}
    assert labelling["CondensedQuestion"] == {"find_neighbours"}
    assert labelling["NeighboursFound"] == {"classify"}
    assert consumers(TitleAgent) == {"TitleWanted": {"draft"}, "TitleDrafted": {"write"}}


def test_the_agent_that_asks_experts_shows_the_users_words_to_no_further_step() -> None:
    accepted = consumers(ExpertRAGAgent)
    assert {event: accepted[event] for event in MAY_SEE_OWN_WORDS} == MAY_SEE_OWN_WORDS
    assert accepted["ContextRejected"] == {"ask_consent"}
    assert accepted["QuestionRejected"] == {"refuse"}
    assert accepted["ConsentHeard"] == {"answer_consent"}


def test_the_run_that_waits_for_an_expert_begins_with_the_standalone_question_and_takes_nothing_else() -> None:
    accepted = consumers(ExpertConsultation)
    assert set(accepted).isdisjoint(MAY_SEE_OWN_WORDS)
    assert accepted["ConsultationStart"] == {"ask_expert", "read_reply", "tell"}
    start = typing.get_type_hints(expert_events.ConsultationStart)
    assert start["question"] is events.CondensedQuestion
    assert set(expert_events.ConsultationStart.model_fields) == {"request_id", "question", "locale"}
    declared = [event for event in vars(expert_events).values() if isinstance(event, type) and issubclass(event, Event)]
    for event in declared:
        if event.__module__ == expert_events.__name__:
            assert {"message", "history", "messages"}.isdisjoint(event.model_fields)


def test_a_channel_to_experts_takes_the_standalone_question_alone() -> None:
    settings = Experts.model_validate({"webhook_url": "https://experts.example", "secret": "a secret of the tests"})
    for send in (ExpertChannel.send, *(open_channel(settings).send for open_channel in CHANNELS.values())):
        hints = typing.get_type_hints(send)
        assert hints["question"] is events.CondensedQuestion
        assert set(hints) == {"question", "request_id", "expires_at", "return"}
