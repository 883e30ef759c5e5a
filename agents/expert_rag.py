"""ExpertRAGAgent: answers from documents, and offers to ask an expert what they do not answer.

A turn never waits for a person: it ends in the offer, and the turn of the user's yes ends at once, too. What waits is
an `ExpertConsultation`, a run of its own that carries the standalone question alone and is kept in the database.
"""

from collections.abc import Callable

from condensery.agents.rag import RAGAgent
from condensery.experts.control import ExpertControl
from condensery.experts.kept import KeptWorkflow
from condensery.experts.paused import PausedRuns
from condensery.services import Services
from condensery.workflows.consent import ConsentSteps
from condensery.workflows.consulting import ConsultingSteps


class ExpertRAGAgent(ConsentSteps, RAGAgent):
    """Started as `RAGAgent` is; `ask_consent` stands in the way of what no document answers."""


class ExpertConsultation(ConsultingSteps, KeptWorkflow):
    """Started with a `ConsultationStart`; waits for an `ExpertSettled` as long as it takes, and ends in a turn."""

    def __init__(self, services: Services) -> None:
        super().__init__(timeout=None)
        self.services = services


def experts_of(services: Callable[[], Services]) -> ExpertControl:
    """What can be done about questions for experts, under the newest of `services`."""
    return ExpertControl(services, PausedRuns(services().database, lambda: ExpertConsultation(services())))
