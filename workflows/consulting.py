"""Steps of the run that waits for an expert. Each looks at what was done already, for a process may end at any time."""

import logging
import uuid

from llama_index.core.workflow import Context

from condensery.errors import CondenseryError, ConfigError, ProviderError, RefusalReason
from condensery.experts.channels import open_channel
from condensery.experts.replies import as_evidence, as_fact, citations_of, quoted
from condensery.experts.types import OPEN, ExpertRequest, RequestState
from condensery.prompts.loader import Prompts, prompts_for
from condensery.services import Services
from condensery.workflows.assembly import assembled
from condensery.workflows.expert_events import (
    ConsultationOver,
    ConsultationStart,
    ExpertAnswered,
    ExpertAsked,
    ExpertSettled,
)
from condensery.workflows.stage import degraded, stage, stages_of
from condensery.workflows.turn import Outcome, TurnKey

log = logging.getLogger(__name__)

REASONS = {
    RequestState.DECLINED: RefusalReason.EXPERT_DECLINED,
    RequestState.EXPIRED: RefusalReason.EXPERT_SILENT,
    RequestState.FAILED: RefusalReason.EXPERT_UNREACHABLE,
}


def answer_turn_id(request_id: str) -> str:
    """The id of the turn that tells the user: the same whoever stores it, so that it is stored once."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"condensery:expert:{request_id}"))


class ConsultingSteps:
    """Ask, wait, answer. What is sent is the standalone question; what comes back is quoted, never obeyed."""

    services: Services

    @stage
    async def ask_expert(self, ctx: Context, start: ConsultationStart) -> ExpertAsked | ExpertSettled:
        """Send the question, unless it is on its way already; then the run waits."""
        requests = self.services.expert_requests
        request = await self._request(start.request_id)
        if request.state is RequestState.ASKED:
            try:
                await self._send(start, request)
            except (ProviderError, ConfigError) as error:
                log.error("the question %s could not be sent: %s", request.id, error)
                degraded(f"not sent: {error}")
                await requests.give_up(request.id)
            else:
                await requests.sent(request.id)
        settled = (await self._request(request.id)).settled
        return (ExpertSettled if settled else ExpertAsked)(request_id=request.id)

    async def _send(self, start: ConsultationStart, request: ExpertRequest) -> None:
        channel = open_channel(request.channel, self.services.settings.experts)
        if request.expires_at is not None:
            await channel.send(start.question, request_id=request.id, expires_at=request.expires_at)

    @stage
    async def read_reply(self, ctx: Context, start: ConsultationStart, settled: ExpertSettled) -> ExpertAnswered:
        """Quote the expert, who is cited; or say why there is no answer."""
        request = await self._request(settled.request_id)
        texts = prompts_for(start.locale)
        if request.state is not RequestState.ANSWERED:
            return _without_reply(request, texts)
        reply, expert = request.reply or "", request.expert or ""
        evidence = as_evidence(request.id, expert, reply)
        return ExpertAnswered(
            answer=f"{texts.text('experts.answers', expert=expert)}\n\n{quoted(reply)}",
            outcome=Outcome.ANSWERED,
            expert=expert,
            evidence=(evidence,),
            citations=citations_of(evidence),
        )

    @stage
    async def tell(self, ctx: Context, start: ConsultationStart, answered: ExpertAnswered) -> ConsultationOver:
        """Store the answer as a turn of the conversation, unless that was deleted; propose the reply as a fact."""
        services, asked = self.services, start.question.key
        key = asked.model_copy(update={"turn_id": answer_turn_id(start.request_id)})
        if await services.turns.get(asked.turn_id) is not None:
            turn = assembled(
                key,
                start.question.question,
                answer=answered.answer,
                outcome=answered.outcome,
                reason=answered.reason,
                answer_mode="extractive" if answered.evidence else None,
                evidence=answered.evidence,
                citations=answered.citations,
                stages=await stages_of(ctx),
            )
            await self._propose(start, answered, key)
            await services.turns.save(turn)
        await services.expert_requests.close(start.request_id)
        return ConsultationOver(turn_id=key.turn_id)

    async def _propose(self, start: ConsultationStart, answered: ExpertAnswered, key: TurnKey) -> None:
        """Let the reply wait until somebody with the right makes it a fact of the organization."""
        if not (key.organization_id and answered.evidence and self.services.settings.memory.enabled):
            return
        if (fact := as_fact(start.question.question, answered.evidence[0].chunk.text)) is None:
            return
        try:
            by = answered.evidence[0].chunk.source
            await self.services.memory_control.propose(key.organization_id, fact, by=by, turn_id=key.turn_id)
        except CondenseryError as error:
            log.warning("an expert's reply could not be proposed as a fact: %s", error)

    async def _request(self, request_id: str) -> ExpertRequest:
        request = await self.services.expert_requests.get(request_id)
        if request is None or request.state not in (*OPEN, *REASONS, RequestState.ANSWERED):
            raise ConfigError(f"the question {request_id} is not one that an expert may be asked")
        return request


def _without_reply(request: ExpertRequest, texts: Prompts) -> ExpertAnswered:
    reason = REASONS[request.state]
    answer = texts.text(f"refusal.{reason}")
    if request.state is RequestState.DECLINED and request.reply:
        answer += "\n\n" + texts.text("experts.because", expert=request.expert or "", reason=request.reply)
    return ExpertAnswered(answer=answer, outcome=Outcome.REFUSED, reason=reason)
