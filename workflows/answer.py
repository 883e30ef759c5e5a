"""The step `answer`: streams generated text with checked citations, or quotes what answers."""

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing

from llama_index.core.workflow import Context

from condensery.errors import BrokenOff, ProviderError, RefusalReason
from condensery.memory.answers import own_answer, own_question
from condensery.memory.told import told
from condensery.memory.types import Remembered
from condensery.models.chat import ChatModel, Reply
from condensery.services import Services
from condensery.workflows.budget import as_chat
from condensery.workflows.citations import CitationFilter, checked, cited
from condensery.workflows.events import (
    AnswerDelta,
    Answered,
    AnswerPrompt,
    EvidenceReady,
)
from condensery.workflows.extractive import in_quoting_order, quoted_answer
from condensery.workflows.honesty import reservation
from condensery.workflows.stage import degraded, stage
from condensery.workflows.turn import Outcome


class AnswerSteps:
    """Generated with a capable model, extractive without one."""

    services: Services
    unanswered = RefusalReason.NOTHING_FOUND
    """Why there is no answer when none is generated and nothing can be quoted."""

    @stage
    async def answer(self, ctx: Context, prompt: AnswerPrompt) -> Answered:
        """Stream a generated answer with checked citations, or quote the sentences that answer."""
        model = self.services.answer_model
        if prompt.messages and model and (text := await self._generate(ctx, prompt, model)):
            citations = cited(text, prompt.chunks)
            recalled = [memory.text for memory in prompt.memories]
            read = [message.content for message in prompt.messages]
            return Answered(
                answer=text,
                mode="generated",
                method=prompt.method,
                chunks=prompt.chunks,
                citations=citations,
                memories=tuple(memory.id for memory in prompt.memories),
                own=own_answer(text, "generated", prompt.chunks, recalled, read),
            )
        return await self._quote(ctx, prompt)

    async def _generate(self, ctx: Context, prompt: AnswerPrompt, model: ChatModel) -> str:
        """The streamed text, or "" when the model gave none; the answer is then quoted, and the trace says so."""
        replies: list[Reply] = []
        said = False
        try:
            async for piece in self._pieces(prompt, model, replies.append):
                if not said:
                    ctx.write_event_to_stream(EvidenceReady(chunks=prompt.chunks, mode="generated"))
                said = True
                ctx.write_event_to_stream(AnswerDelta(text=piece))
        except ProviderError as error:
            if said:
                raise BrokenOff(str(error)) from error
            degraded(f"quoted instead of generated: {error}")
            return ""
        if not said:
            degraded(f"quoted instead of generated: {_why_nothing(replies[0])}")
        elif replies[0].finish_reason == "length":
            degraded("the answer was cut off at llm.max_output_tokens")
        return checked(replies[0].text, len(prompt.chunks)).strip() if said else ""

    async def _pieces(
        self, prompt: AnswerPrompt, model: ChatModel, on_finish: Callable[[Reply], None]
    ) -> AsyncIterator[str]:
        check = CitationFilter(len(prompt.chunks))
        limit = self.services.settings.llm.max_output_tokens
        stream = model.stream(as_chat(prompt.messages), max_tokens=limit, on_finish=on_finish)
        async with aclosing(stream):
            async for delta in stream:
                if piece := check.feed(delta):
                    yield piece
        if rest := check.finish().rstrip():
            yield rest

    async def _quote(self, ctx: Context, prompt: AnswerPrompt) -> Answered:
        if memory := told(own_question(prompt.question), prompt.memories):
            return self._remind(ctx, prompt, memory)
        limit = self.services.settings.answer.max_quotes
        known = " ".join(probe.text for probe in prompt.question.probes if probe.told)
        found = await self.services.quoter.quote(prompt.question.question, prompt.chunks, told=known, limit=limit)
        quotes, chunks = in_quoting_order(found, prompt.chunks)
        reason = None if quotes else self.unanswered
        text = quoted_answer(quotes) if quotes else self.services.prompts.text(f"refusal.{reason}")
        if quotes and prompt.doubt is not None:
            text = f"{reservation(self.services.prompts, prompt.doubt)}\n\n{text}"
        ctx.write_event_to_stream(EvidenceReady(chunks=chunks, mode="extractive"))
        ctx.write_event_to_stream(AnswerDelta(text=text))
        return Answered(
            answer=text,
            mode="extractive",
            method=prompt.method,
            chunks=chunks,
            citations=tuple(quote.citation() for quote in quotes),
            outcome=Outcome.REFUSED if reason else Outcome.ANSWERED,
            reason=reason,
        )

    def _remind(self, ctx: Context, prompt: AnswerPrompt, memory: Remembered) -> Answered:
        """Say what the person told themselves; no document knows it better."""
        text = self.services.prompts.text("memory.told", fact=memory.text)
        ctx.write_event_to_stream(EvidenceReady(chunks=(), mode="extractive"))
        ctx.write_event_to_stream(AnswerDelta(text=text))
        return Answered(answer=text, mode="extractive", method=prompt.method, chunks=(), memories=(memory.id,))


def _why_nothing(reply: Reply) -> str:
    return "the model spent its tokens on reasoning" if reply.unfinished_thinking else "the model wrote nothing"
