"""MemoryWriterAgent: finds what a turn says about the person. It runs after the turn, and sees no document."""

from collections.abc import Callable

from llama_index.core.workflow import StartEvent, StopEvent, Workflow, WorkflowTimeoutError, step

from condensery.errors import ProviderError
from condensery.memory.attribution import supported
from condensery.memory.extraction import FactExtractor, RuleExtractor
from condensery.memory.types import NewFact
from condensery.memory.writing import FindFacts, OutboxWriter
from condensery.services import Services
from condensery.workflows.events import Strict, StrictEvent

__all__ = ["FactsChecked", "FactsFound", "MemoryWriterAgent", "TurnToRemember", "memory_writer"]


class TurnToRemember(Strict, StartEvent):
    """The standalone question of a turn, and the answer's own words: never the message, never evidence."""

    question: str
    answer: str


class FactsFound(StrictEvent):
    """What an extractor took for facts."""

    question: str
    answer: str
    facts: tuple[NewFact, ...]


class FactsChecked(Strict, StopEvent):
    """Facts about the person that the question itself states."""

    facts: tuple[NewFact, ...]


class MemoryWriterAgent(Workflow):
    """Started with a `TurnToRemember`; ends in `FactsChecked`. Storing them is up to whoever runs it."""

    def __init__(self, extractor: FactExtractor, *, seconds: float) -> None:
        super().__init__(timeout=seconds)
        self.extractor = extractor

    @step
    async def extract(self, turn: TurnToRemember) -> FactsFound:
        """Find facts, with a model or by rules."""
        found = await self.extractor.extract(turn.question, turn.answer)
        return FactsFound(question=turn.question, answer=turn.answer, facts=tuple(found))

    @step
    async def check(self, found: FactsFound) -> FactsChecked:
        """Keep what is about the person and stated by the question; the answer only resolves what it refers to."""
        kept = (fact for fact in found.facts if supported(fact.text, found.question, found.answer))
        return FactsChecked(facts=tuple(kept))

    async def find(self, question: str, answer: str) -> list[NewFact]:
        """Run once and return the facts; raises `ProviderError` when it takes too long."""
        try:
            checked: FactsChecked = await self.run(start_event=TurnToRemember(question=question, answer=answer))
        except WorkflowTimeoutError as error:
            raise ProviderError("finding facts took longer than memory.extraction_seconds") from error
        return list(checked.facts)


def memory_writer(services: Services) -> OutboxWriter:
    """What writes to the memory under these services' settings: facts are found by this agent."""
    settings = services.settings.memory

    def finding_with(extractor: Callable[[], FactExtractor]) -> FindFacts:
        async def find(question: str, answer: str) -> list[NewFact]:
            return await MemoryWriterAgent(extractor(), seconds=settings.extraction_seconds).find(question, answer)

        return find

    return OutboxWriter(
        services.outbox,
        services.memory,
        services.memory_users,
        finding_with(services.fact_extractor),
        settings,
        rules=finding_with(RuleExtractor),
    )
