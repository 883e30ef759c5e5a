"""The step `compose`: a prompt of evidence, history and message that fits the model's window."""

from functools import partial

from llama_index.core.workflow import Context

from condensery.memory.types import Remembered
from condensery.models.chat import ChatModel
from condensery.retrieval.types import Chunk, ScoredChunk
from condensery.services import Services
from condensery.workflows.budget import PromptParts, fit, input_budget
from condensery.workflows.events import AnswerPrompt, ContextAccepted, EnrichedHistory, FactsUsed
from condensery.workflows.history import memory_blocks
from condensery.workflows.honesty import with_caution
from condensery.workflows.stage import degraded, stage


def numbered(chunks: tuple[ScoredChunk, ...]) -> str:
    """The evidence as the prompt shows it: each chunk under its citation number, source and heading."""
    return "\n\n".join(_block(number, found.chunk) for number, found in enumerate(chunks, start=1))


def _block(number: int, chunk: Chunk) -> str:
    heading = f" – {chunk.heading}" if chunk.heading else ""
    return f"[{number}] {chunk.source}{heading}\n{chunk.text}"


class ComposeSteps:
    """Builds the prompt of an answer from documents."""

    services: Services

    @stage
    async def compose(self, ctx: Context, context: ContextAccepted, history: EnrichedHistory) -> AnswerPrompt:
        """Build a prompt that fits the model's window; without a model, pass the evidence on."""
        model = self.services.answer_model
        if model is None:
            return _quoting(context, history.memories)
        fitted = await fit(self._parts(context, history), answer_budget(self.services, model), model.count_tokens)
        if context.chunks and not fitted.chunks:
            degraded(f"quoted instead of generated: no passage fits the window of {model.name} beside the message")
            return _quoting(context, history.memories)
        if left_out := len(context.chunks) - len(fitted.chunks):
            degraded(f"{left_out} of {len(context.chunks)} passages did not fit the window of {model.name}")
        if fitted.memories:
            ctx.write_event_to_stream(FactsUsed(facts=fitted.memories))
        return AnswerPrompt(
            question=context.question,
            method=context.method,
            chunks=fitted.chunks,
            messages=fitted.messages,
            memories=fitted.memories,
            doubt=context.doubt,
        )

    def _parts(self, context: ContextAccepted, history: EnrichedHistory) -> PromptParts:
        prompts = self.services.prompts
        return PromptParts(
            system=prompts.render("system"),
            history=history.history,
            memories=history.memories,
            chunks=context.chunks,
            remember=partial(memory_blocks, prompts),
            last=lambda chunks: with_caution(
                prompts.render("answer", evidence=numbered(chunks), message=history.message), context, prompts
            ),
        )


def answer_budget(services: Services, model: ChatModel) -> int:
    """Tokens that the prompt of an answer may have."""
    return input_budget(services.settings, model, services.settings.llm.max_output_tokens)


def _quoting(context: ContextAccepted, memories: tuple[Remembered, ...]) -> AnswerPrompt:
    """No prompt: the answer is quoted."""
    return AnswerPrompt(
        question=context.question,
        method=context.method,
        chunks=context.chunks,
        memories=memories,
        doubt=context.doubt,
    )
