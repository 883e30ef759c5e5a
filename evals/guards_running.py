"""Puts labelled questions to the agent, as a program does; what was measured until an interruption is kept."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import cast

from llama_index.core.workflow import Workflow

from condensery.agents.rag import RAGAgent
from condensery.app import App
from condensery.evals.guards import GuardRow, Question, row_of
from condensery.workflows.events import AgentCall, TurnFinished
from condensery.workflows.turn import Turn, TurnKey


@dataclass
class GuardEvaluation:
    """Asks one question after the other; `rows` holds those that are done, `on_turn` is told of each."""

    app: App
    questions: Sequence[Question]
    on_turn: Callable[[], None]
    rows: list[GuardRow] = field(default_factory=list)

    async def run(self) -> None:
        """Ask every question, and those that need several documents once more with a single search."""
        agent, single = self.app.agent, single_search(self.app)
        for number, question in enumerate(self.questions):
            turn = await asked(agent, question, f"guards-{number}")
            first = await asked(single, question, f"guards-{number}-1") if question.needs_several else turn
            self.rows.append(row_of(question, turn, first))
            self.on_turn()


def single_search(app: App) -> RAGAgent:
    """The agent when one search has to do."""
    services = app.services
    guard = services.settings.guard.model_copy(update={"max_hops": 1})
    return RAGAgent(services.with_settings(services.settings.model_copy(update={"guard": guard})))


async def asked(agent: Workflow, question: Question, turn_id: str) -> Turn:
    """The turn that `question` becomes in a conversation of its own."""
    key = TurnKey(turn_id=turn_id, conversation_id=turn_id)
    return cast(TurnFinished, await agent.run(start_event=AgentCall(key=key, message=question.question))).turn
