"""The graph of a turn, edge by edge."""

from condensery.agents.rag import RAGAgent

GRAPH = {
    "limit_history": ({"ChatStart"}, {"HistoryLimited"}),
    "gate": ({"ChatStart"}, {"ChatCleared", "MetaQuestion"}),
    "answer_meta": ({"MetaQuestion"}, {"TurnEnded"}),
    "condense": ({"HistoryLimited", "ChatCleared"}, {"CondensedQuestion", "QuestionRejected"}),
    "few_shot_guard": ({"CondensedQuestion"}, {"SearchRequest", "QuestionRejected"}),
    "hypothesize": ({"SearchRequest"}, {"SearchProbe"}),
    "retrieve": ({"SearchProbe"}, {"Retrieved"}),
    "rerank": ({"Retrieved"}, {"Ranked"}),
    "judge_context": ({"Ranked"}, {"ContextAccepted", "ContextRejected", "SearchRequest"}),
    "recall_user_memory": ({"CondensedQuestion"}, {"UserMemories"}),
    "recall_organization_memory": ({"CondensedQuestion"}, {"OrganizationMemories"}),
    "enrich_history": ({"HistoryLimited", "UserMemories", "OrganizationMemories"}, {"EnrichedHistory"}),
    "compose": ({"ContextAccepted", "EnrichedHistory"}, {"AnswerPrompt"}),
    "answer": ({"AnswerPrompt"}, {"Answered"}),
    "remember": ({"CondensedQuestion", "Answered"}, {"TurnEnded"}),
    "refuse": ({"QuestionRejected", "ContextRejected"}, {"TurnEnded"}),
    "finish": ({"ChatStart", "TurnEnded"}, {"TurnFinished"}),
}


def test_the_graph_of_a_turn_is_as_designed() -> None:
    steps = {name: getattr(getattr(RAGAgent, name), "_step_config", None) for name in dir(RAGAgent)}
    graph = {
        name: ({event.__name__ for event in config.accepted_events}, {event.__name__ for event in config.return_types})
        for name, config in steps.items()
        if config
    }
    assert graph == GRAPH
