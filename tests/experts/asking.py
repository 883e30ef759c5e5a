"""What the tests of experts share."""

import asyncio
from typing import Any

from condensery.app import App
from condensery.experts.types import ExpertRequest, RequestState
from condensery.workflows.turn import Turn

AGENTS = {"agents": {"desk": {"kind": "expert_rag"}}}
"""Settings with an agent that may ask experts."""


class ExpertApp(App):
    """An app that answers with that agent."""

    async def aclose(self) -> None:
        """As `close`, for `aclosing`."""
        await self.close()

    async def ask(self, message: str, **options: Any) -> Turn:
        """See `App.ask`."""
        return await super().ask(message, **{"agent": "desk", **options})


QUESTION = "How much is the night bus to Bergen?"
QUESTIONS = {
    "en": QUESTION,
    "de": "Wie viel kostet der Nachtbus nach Bergen?",
    "fr": "Combien coûte le bus de nuit pour Bergen ?",
    "it": "Quanto costa l'autobus notturno per Bergen?",
}
SECRET = "a secret of the tests"  # noqa: S105


async def asked(app: App, question: str = QUESTION, **key: Any) -> ExpertRequest:
    """The request of a question that the user had sent, once it has been."""
    await app.ask(question, **key)
    offer = await app.experts.offered(key["conversation_id"], user_id=key.get("user_id"))
    assert offer is not None
    await app.ask("yes", **key)
    return await until(app, offer.id, RequestState.SENT)


async def until(app: App, request_id: str, *states: RequestState) -> ExpertRequest:
    """The request, as soon as it is in one of `states`."""
    async with asyncio.timeout(60):
        while (request := await app.experts.show(request_id)).state not in states:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    return request


async def closed(app: App, request_id: str) -> ExpertRequest:
    """The request, as soon as the user has been told."""
    async with asyncio.timeout(60):
        while not (request := await app.experts.show(request_id)).closed_at:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    return request


async def last(app: App, conversation_id: str) -> Turn:
    """The newest turn of a conversation."""
    return (await app.history(conversation_id))[-1]
