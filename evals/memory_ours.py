"""The product as it is measured: its own steps up to the standalone question, its extraction and its memory."""

from typing import cast

from llama_index.core.workflow import Context, StopEvent, Workflow

from condensery.agents.memory_writer import MemoryWriterAgent
from condensery.evals.memory_results import OURS
from condensery.evals.memory_scoring import DEPTH, Kept, Played
from condensery.evals.memory_systems import Clock, Moment
from condensery.memory.types import Fact, Memory, NewFact, user_scope
from condensery.memory.writing import FindFacts
from condensery.services import Services
from condensery.workflows.condense import CondenseSteps
from condensery.workflows.events import ChatStart, CondensedQuestion, QuestionRejected, Strict, TurnEnded
from condensery.workflows.gate import GateSteps
from condensery.workflows.history import LimitSteps
from condensery.workflows.memory import to_remember
from condensery.workflows.stage import stage
from condensery.workflows.turn import Exchange, TurnKey


class CondenseFinished(Strict, StopEvent):
    """The standalone question of a turn; None when it has none, as small talk has."""

    question: CondensedQuestion | None = None


class CondenseAgent(GateSteps, LimitSteps, CondenseSteps, Workflow):
    """The steps of a turn from its start to `condense`: what memory is given is what it is given in a chat."""

    def __init__(self, services: Services) -> None:
        super().__init__(timeout=services.settings.limits.turn_seconds)
        self.services = services

    @stage
    async def end(self, ctx: Context, end: CondensedQuestion | QuestionRejected | TurnEnded) -> CondenseFinished:
        """End with the question."""
        return CondenseFinished(question=end if isinstance(end, CondensedQuestion) else end.question)


class Ours:
    """The product: condense, extract, remember; recall with the limit and the threshold of the settings."""

    name = OURS

    def __init__(self, services: Services, find: FindFacts, memory: Memory, extraction: str) -> None:
        self._services, self._find, self._memory = services, find, memory
        self._agent = CondenseAgent(services)
        self.extraction = extraction

    @classmethod
    def of(cls, services: Services) -> "Ours":
        """The product as its settings are. Raises `ConfigError` when the model that they name is not there."""
        writer = MemoryWriterAgent(services.fact_extractor(), seconds=services.settings.memory.extraction_seconds)
        return cls(services, writer.find, services.memory, extraction_of(services))

    async def take_in(self, moment: Moment, played: Played) -> dict[str, float]:
        """Do with a turn what a chat and the memory's writer do."""
        clock = Clock()
        question = await self._question(moment.key, moment.message, moment.history)
        played.questions[moment.number] = question.question if question else None
        clock.lap("condense")
        waiting = await to_remember(self._services, question, moment.answer) if question else None
        if waiting is None:
            return clock.ms
        found = await self._find(str(waiting.payload["question"]), str(waiting.payload["answer"]))
        clock.lap("extract")
        where = {"turn_id": moment.key.turn_id, "conversation_id": moment.key.conversation_id}
        facts = [NewFact.model_validate(fact.model_dump() | where) for fact in found]
        if facts:
            await self._memory.remember(facts, scope=user_scope(moment.user))
            clock.lap("store")
        return clock.ms

    async def recall(self, user: str, ask: str, language: str) -> list[str]:
        """What a new conversation that begins with `ask` is given."""
        settings = self._services.settings.memory
        question = await self._question(TurnKey(turn_id="ask", conversation_id="ask", user_id=user), ask, ())
        if question is None or not settings.limit:
            return []
        facts = await self._memory.recall(
            question.question, scope=user_scope(user), limit=settings.limit, threshold=settings.threshold
        )
        return [fact.text for fact in facts[:DEPTH]]

    async def kept(self, user: str) -> tuple[list[Kept], list[Kept]]:
        """What is listed, without and with its history."""
        scope = user_scope(user)
        current, ever = await self._memory.list(scope=scope), await self._memory.list(scope=scope, history=True)
        return [_kept(fact) for fact in reversed(current)], [_kept(fact) for fact in reversed(ever)]

    async def _question(self, key: TurnKey, message: str, history: tuple[Exchange, ...]) -> CondensedQuestion | None:
        start = ChatStart(key=key, message=message, history=history)
        return cast(CondenseFinished, await self._agent.run(start_event=start)).question


def extraction_of(services: Services) -> str:
    """How facts are found, and by which model."""
    settings = services.settings.memory
    model = services.model_for(settings.model, settings.api_key)
    if settings.extraction == "rules" or model is None or (settings.extraction == "auto" and not model.capable):
        return "rules"
    return f"{'llm' if settings.extraction == 'auto' else settings.extraction}: {model.name}"


def _kept(fact: Fact) -> Kept:
    number = (fact.turn_id or "").rpartition("#")[2]
    return Kept(fact.text, int(number) if number.isdigit() else None)
