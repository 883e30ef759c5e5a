"""RAGAgent: answers a chat turn from documents. What it is made of, one concern per base class."""

from llama_index.core.workflow import Workflow

from condensery.services import Services
from condensery.workflows.answer import AnswerSteps
from condensery.workflows.composing import ComposeSteps
from condensery.workflows.condense import CondenseSteps
from condensery.workflows.ending import EndingSteps
from condensery.workflows.gate import GateSteps
from condensery.workflows.history import HistorySteps, LimitSteps
from condensery.workflows.memory import MemorySteps
from condensery.workflows.retrieval import RetrievalSteps


class RAGAgent(
    GateSteps,
    LimitSteps,
    HistorySteps,
    CondenseSteps,
    RetrievalSteps,
    MemorySteps,
    ComposeSteps,
    AnswerSteps,
    EndingSteps,
    Workflow,
):
    """Started with a `ChatStart`, or an `AgentCall` from a program; every turn ends in `TurnFinished`."""

    def __init__(self, services: Services) -> None:
        super().__init__(timeout=services.settings.limits.turn_seconds)
        self.services = services
