"""ChatAgent: talks without documents. The gate and long-term memory are all that it has besides a model."""

from llama_index.core.workflow import Workflow

from condensery.services import Services
from condensery.workflows.condense import CondenseSteps
from condensery.workflows.conversing import ConverseSteps
from condensery.workflows.ending import FinishSteps
from condensery.workflows.gate import GateSteps
from condensery.workflows.history import HistorySteps, LimitSteps
from condensery.workflows.memory import MemorySteps


class ChatAgent(GateSteps, LimitSteps, HistorySteps, CondenseSteps, MemorySteps, ConverseSteps, FinishSteps, Workflow):
    """Started with a `ChatStart`, or an `AgentCall` from a program; every turn ends in `TurnFinished`.

    Without a capable model it tells what the person said of themselves, and says of all else that it needs a model.
    """

    def __init__(self, services: Services) -> None:
        super().__init__(timeout=services.settings.limits.turn_seconds)
        self.services = services
