"""The step `condense`: the single gated entry to everything that searches, remembers or asks."""

from llama_index.core.workflow import Context

from condensery.errors import RefusalReason
from condensery.services import Services
from condensery.workflows.engines.base import PreparedQuery
from condensery.workflows.engines.safety import prepare_safely
from condensery.workflows.events import ChatCleared, CondensedQuestion, HistoryLimited, QuestionRejected
from condensery.workflows.history import newest
from condensery.workflows.own_words import question_in
from condensery.workflows.stage import degraded, noted, stage
from condensery.workflows.turn import LENT, Exchange


class CondenseSteps:
    """Turns the person's message into one standalone question, by the chosen chat engine."""

    services: Services

    @stage
    async def condense(
        self, ctx: Context, limited: HistoryLimited, cleared: ChatCleared
    ) -> CondensedQuestion | QuestionRejected:
        """Make the one standalone question that everything after this sees."""
        limits = self.services.settings.condense
        if len(limited.message) > self.services.settings.limits.message_chars:
            return QuestionRejected(reason=RefusalReason.INPUT_TOO_LARGE)
        message = question_in(limited.message, limits.max_chars)
        if message is None:
            return QuestionRejected(reason=RefusalReason.CONDENSATION_EMPTY)
        chosen = limits.engine if limited.options.engine is None else limited.options.engine
        name = chosen if limits.enabled else "simple"
        prepared = await self._prepare(name, message, newest(limited.history, limits.history_turns))
        if prepared.reason:
            degraded(f"{name}: {prepared.reason}")
        question = CondensedQuestion(
            key=limited.key,
            question=prepared.search_query,
            max_chars=limits.max_chars,
            engine=name,
            condensed=prepared.search_query != limited.message.strip(),
            fallback=prepared.reason,
            probes=prepared.probes,
            options=limited.options,
        )
        if question.lent:
            noted(LENT)
        ctx.write_event_to_stream(question)
        return question

    async def _prepare(self, name: str, message: str, history: tuple[Exchange, ...]) -> PreparedQuery:
        engine = self.services.engine(name)
        if not history:
            return PreparedQuery(message, message)
        limits = self.services.settings.condense
        return await prepare_safely(engine, message, history, seconds=limits.seconds, max_chars=limits.max_chars)
