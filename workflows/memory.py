"""Steps of long-term memory. Each consumes the standalone question, and `remember` the answer: never the message."""

import logging

from llama_index.core.workflow import Context

from condensery.errors import CondenseryError
from condensery.memory.answers import own_question
from condensery.memory.told import is_about_oneself
from condensery.memory.types import Fact
from condensery.services import Services
from condensery.storage.outbox import MEMORY
from condensery.workflows.events import (
    Answered,
    CondensedQuestion,
    OrganizationMemories,
    TurnEnded,
    UserMemories,
)
from condensery.workflows.stage import noted, stage
from condensery.workflows.turn import OutboxEntry

log = logging.getLogger(__name__)


async def to_remember(services: Services, question: CondensedQuestion | None, answer: str) -> OutboxEntry | None:
    """What is put aside to be remembered after the turn: nothing for nobody, and for who switched memory off.

    Whoever stores it asks again, so that it is put aside when nobody can be asked now.
    """
    if question is None or question.key.user_id is None or not services.settings.memory.enabled:
        return None
    try:
        if not await services.memory_users.enabled(question.key.user_id):
            return None
    except CondenseryError as error:
        log.warning("put aside without knowing whether memory is on: %s", error)
    payload = {"question": own_question(question), "answer": answer}
    return OutboxEntry(turn_id=question.key.turn_id, kind=MEMORY, payload=payload)


class MemorySteps:
    """Recall by scope, in parallel with retrieval; remember after the answer."""

    services: Services

    @stage
    async def recall_user_memory(self, ctx: Context, question: CondensedQuestion) -> UserMemories:
        """Recall the facts of this user that bear on the question."""
        facts = await self.services.recaller.of_user(question.key.user_id, _to_recall(question))
        return UserMemories(facts=_counted(facts))

    @stage
    async def recall_organization_memory(self, ctx: Context, question: CondensedQuestion) -> OrganizationMemories:
        """Recall the approved facts of this organization that bear on the question."""
        asked = _to_recall(question)
        facts = await self.services.recaller.of_organization(question.key.organization_id, asked)
        return OrganizationMemories(facts=_counted(facts))

    @stage
    async def remember(self, ctx: Context, question: CondensedQuestion, answered: Answered) -> TurnEnded:
        """End the answered turn; what it says about the person is put aside to be found and kept later."""
        return TurnEnded(
            answer=answered.answer,
            outcome=answered.outcome,
            reason=answered.reason,
            question=question,
            answered=answered,
            method=answered.method,
            outbox=await to_remember(self.services, question, answered.own),
        )


def _to_recall(question: CondensedQuestion) -> str:
    """What facts are recalled with: the question with those before it, unless it asks for a fact of the person's."""
    asked = own_question(question)
    return asked if is_about_oneself(asked) else own_question(question, earlier=True)


def _counted(facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """The stage's note, which is stored with the turn, says how many alone."""
    if facts:
        noted(f"recalled {len(facts)}")
    return facts
