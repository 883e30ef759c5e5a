"""FewShotAgent: says which label a message has, by labelled examples. With a capable model, or by neighbours alone."""

from collections.abc import Iterable

from llama_index.core.workflow import Context, StopEvent, Workflow

from condensery.errors import ProviderError, RefusalReason
from condensery.services import Services
from condensery.workflows.condense import CondenseSteps
from condensery.workflows.events import (
    ChatCleared,
    ChatStart,
    CondensedQuestion,
    QuestionRejected,
    Strict,
    StrictEvent,
)
from condensery.workflows.examples import ExampleIndex, checked_examples
from condensery.workflows.few_shot import Example, Neighbour, Ruling
from condensery.workflows.history import LimitSteps
from condensery.workflows.labelling import chosen_label, to_show
from condensery.workflows.stage import degraded, stage, stages_of
from condensery.workflows.starting import turn_options, turn_start
from condensery.workflows.turn import Exchange, StageRecord

__all__ = ["Classified", "FewShotAgent", "NeighboursFound"]


class NeighboursFound(StrictEvent):
    """The standalone question, what its neighbours say, and the examples that a model would be shown."""

    question: CondensedQuestion
    ruling: Ruling
    examples: tuple[Neighbour, ...]


class Classified(Strict, StopEvent):
    """A label with what decided it; none, with the reason, when the message has no question to classify.

    `confidence` is the label's share by its neighbours, also when a model chose it: low where they disagree.
    """

    label: str | None = None
    confidence: float = 0.0
    clear: bool = False
    by_model: bool = False
    neighbours: tuple[Neighbour, ...] = ()
    question: CondensedQuestion | None = None
    reason: RefusalReason | None = None
    stages: tuple[StageRecord, ...] = ()


class FewShotAgent(LimitSteps, CondenseSteps, Workflow):
    """Started with a `ChatStart`; ends in `Classified`. Nothing is searched, remembered or stored.

    A capable `services.model` decides from the examples and the standalone question, and sees neither the history nor
    the message; `use_model=False`, or none that is capable, leaves it to the neighbours. Raises `ConfigError` for
    examples that cannot be decided by.
    """

    def __init__(self, services: Services, examples: Iterable[Example], *, use_model: bool = True) -> None:
        super().__init__(timeout=services.settings.limits.turn_seconds)
        self.services = services
        self.examples = ExampleIndex(checked_examples(examples), services.embedder)
        self._use_model = use_model

    async def classify_text(self, message: str, history: Iterable[Exchange] = ()) -> Classified:
        """Run once. `history`, oldest first, is what a follow-up is understood by."""
        options = turn_options(engine=None, method=None, namespaces=(), filters=None)
        start = turn_start(message, options, conversation_id=None, user_id=None, chat=False)
        done: Classified = await self.run(start_event=start.model_copy(update={"history": tuple(history)}))
        return done

    @stage
    async def clear(self, ctx: Context, start: ChatStart) -> ChatCleared:
        """Let every message through: thanks and greetings may have labels, too."""
        return ChatCleared()

    @stage
    async def find_neighbours(self, ctx: Context, question: CondensedQuestion) -> NeighboursFound:
        """Find the examples nearest to the standalone question."""
        limits = self.services.settings.few_shot
        ruling = await self.examples.rule(question.question, neighbours=limits.neighbours)
        shown = await self.examples.nearest(question.question, len(self.examples.examples))
        return NeighboursFound(question=question, ruling=ruling, examples=to_show(shown))

    @stage
    async def classify(self, ctx: Context, found: NeighboursFound) -> Classified:
        """Choose the label: a capable model from the examples, else the neighbours."""
        chosen = await self._said_by_model(found)
        label, ruling = chosen or found.ruling.label, found.ruling
        own = tuple(each for each in found.examples if each.label == label)
        return Classified(
            label=label,
            confidence=ruling.confidences[label],
            clear=label == ruling.label and ruling.clear(self.services.settings.few_shot.margin),
            by_model=chosen is not None,
            neighbours=ruling.neighbours if label == ruling.label else own,
            question=found.question,
            stages=await stages_of(ctx),
        )

    @stage
    async def decline(self, ctx: Context, rejected: QuestionRejected) -> Classified:
        """End without a label: there is no question to classify."""
        return Classified(reason=rejected.reason, stages=await stages_of(ctx))

    async def _said_by_model(self, found: NeighboursFound) -> str | None:
        model = self.services.model
        if not self._use_model or model is None or not model.capable:
            return None
        try:
            return await chosen_label(
                model, self.services.prompts, found.question.question, found.examples, self.examples.labels
            )
        except (ProviderError, ValueError) as error:
            why = str(error) if isinstance(error, ProviderError) else "the reply names no label"
            degraded(f"classified by neighbours: {why}")
            return None
