"""TitleAgent: what a conversation is listed under. From the key terms of its question, or by a capable model."""

import asyncio

from llama_index.core.llms import ChatMessage, MessageRole
from llama_index.core.workflow import StartEvent, StopEvent, Workflow, step

from condensery.errors import ProviderError
from condensery.models.chat import ChatModel
from condensery.prompts.loader import Prompts
from condensery.retrieval.text import inert
from condensery.services import Services
from condensery.workflows.events import Strict, StrictEvent
from condensery.workflows.titles import TITLE_CHARS, title_of, usable_title

__all__ = ["TitleAgent", "TitleDrafted", "TitleWanted", "Titled", "title_agent"]

REPLY_TOKENS = 256
"""A title needs a few; a model may reason first."""
SECONDS = 60.0
"""Longest time a model may take; it lets whoever waits for an answer go first."""


class TitleWanted(Strict, StartEvent):
    """The standalone question that a conversation begins with: never the message, never an answer."""

    question: str


class TitleDrafted(StrictEvent):
    """A title from the key terms of the question."""

    question: str
    title: str


class Titled(Strict, StopEvent):
    """The title, and whether a model wrote it; `reason` says why it did not, when it was asked to."""

    title: str
    by_model: bool = False
    reason: str | None = None


class TitleAgent(Workflow):
    """Started with a `TitleWanted`; ends in `Titled`, whatever fails. `model` None leaves it to the key terms."""

    def __init__(self, model: ChatModel | None, prompts: Prompts) -> None:
        super().__init__(timeout=None)
        self._model = model
        self._prompts = prompts

    @step
    async def draft(self, wanted: TitleWanted) -> TitleDrafted:
        """Take the key terms of the question."""
        return TitleDrafted(question=wanted.question, title=title_of(wanted.question))

    @step
    async def write(self, drafted: TitleDrafted) -> Titled:
        """Let a model write a better one, and keep the key terms when what it writes is none."""
        if self._model is None:
            return Titled(title=drafted.title)
        try:
            async with asyncio.timeout(SECONDS):
                reply = await self._model.complete(self._asked(drafted), max_tokens=REPLY_TOKENS, background=True)
        except TimeoutError:
            return Titled(title=drafted.title, reason=f"it took longer than {SECONDS:g} seconds")
        except ProviderError as error:
            return Titled(title=drafted.title, reason=str(error))
        if (title := usable_title(reply.text, drafted.question)) is None:
            return Titled(title=drafted.title, reason=f"the reply was no title of at most {TITLE_CHARS} characters")
        return Titled(title=title, by_model=True)

    async def title(self, question: str) -> Titled:
        """Run once."""
        titled: Titled = await self.run(start_event=TitleWanted(question=question))
        return titled

    def _asked(self, drafted: TitleDrafted) -> list[ChatMessage]:
        text = self._prompts.render("title", question=inert(drafted.question))
        return [ChatMessage(role=MessageRole.USER, content=text)]


def title_agent(services: Services) -> TitleAgent:
    """The agent under these services; it asks the model that answers, where one is capable."""
    return TitleAgent(services.answer_model, services.prompts)
