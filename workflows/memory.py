"""Steps of long-term memory. Each consumes the standalone question only; without a memory they pass on nothing."""

from llama_index.core.workflow import Context

from condensery.services import Services
from condensery.workflows.events import Answered, CondensedQuestion, OrganizationMemories, TurnEnded, UserMemories
from condensery.workflows.stage import stage


class MemorySteps:
    """Recall by scope, in parallel with retrieval; remember after the answer."""

    services: Services

    @stage
    async def recall_user_memory(self, ctx: Context, question: CondensedQuestion) -> UserMemories:
        """Recall nothing: no memory is kept."""
        return UserMemories()

    @stage
    async def recall_organization_memory(self, ctx: Context, question: CondensedQuestion) -> OrganizationMemories:
        """Recall nothing: no memory is kept."""
        return OrganizationMemories()

    @stage
    async def remember(self, ctx: Context, question: CondensedQuestion, answered: Answered) -> TurnEnded:
        """End the answered turn; nothing is put aside for later."""
        return TurnEnded(
            answer=answered.answer,
            outcome=answered.outcome,
            reason=answered.reason,
            question=question,
            answered=answered,
            method=answered.method,
        )
