"""Steps of a turn without documents: `converse` builds its prompt from memory and history, `decline` says why not."""

from functools import partial

from llama_index.core.workflow import Context

from condensery.errors import RefusalReason
from condensery.services import Services
from condensery.workflows.answer import AnswerSteps
from condensery.workflows.budget import PromptParts, fit
from condensery.workflows.composing import answer_budget
from condensery.workflows.events import (
    AnswerDelta,
    AnswerPrompt,
    CondensedQuestion,
    EnrichedHistory,
    FactsUsed,
    QuestionRejected,
    TurnEnded,
)
from condensery.workflows.history import memory_blocks
from condensery.workflows.stage import stage
from condensery.workflows.turn import Outcome

METHOD = "none"
"""What is stored as the retrieval method of a turn that searched nothing."""


class ConverseSteps(AnswerSteps):
    """Builds a prompt from what was said and what is remembered; without a model, only what is remembered is told."""

    services: Services
    unanswered = RefusalReason.NO_MODEL

    @stage
    async def converse(self, ctx: Context, question: CondensedQuestion, history: EnrichedHistory) -> AnswerPrompt:
        """Build a prompt that fits the model's window; without a model, pass on what is remembered."""
        model = self.services.answer_model
        if model is None:
            return AnswerPrompt(question=question, method=METHOD, chunks=(), memories=history.memories)
        fitted = await fit(self._parts(history), answer_budget(self.services, model), model.count_tokens)
        if fitted.memories:
            ctx.write_event_to_stream(FactsUsed(facts=fitted.memories))
        return AnswerPrompt(
            question=question, method=METHOD, chunks=(), messages=fitted.messages, memories=fitted.memories
        )

    @stage
    async def decline(self, ctx: Context, rejected: QuestionRejected) -> TurnEnded:
        """Say why there is no answer."""
        text = self.services.prompts.text(f"refusal.{rejected.reason}")
        ctx.write_event_to_stream(AnswerDelta(text=text))
        return TurnEnded(answer=text, outcome=Outcome.REFUSED, reason=rejected.reason, question=rejected.question)

    def _parts(self, history: EnrichedHistory) -> PromptParts:
        prompts = self.services.prompts
        return PromptParts(
            system=prompts.render("talk"),
            history=history.history,
            memories=history.memories,
            remember=partial(memory_blocks, prompts),
            last=lambda _: history.message,
        )
