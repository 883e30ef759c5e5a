"""The channel `webhook`: a question goes out as a signed POST; see docs/guides/experts.md for its shape."""

import json
import logging
import time
from collections.abc import Callable
from datetime import datetime
from urllib.parse import urlsplit

import httpx
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_attempt, wait_exponential

from condensery.errors import ConfigError, ProviderError
from condensery.experts.signing import signed
from condensery.settings import Experts
from condensery.workflows.events import CondensedQuestion

log = logging.getLogger(__name__)

PASSING = frozenset({408, 425, 429})
"""Replies that say: try again; as those from 500 on do."""


class NotTaken(ProviderError):
    """The other side took the call and refused it; trying again is of no use."""


class _TryAgain(ProviderError):
    """The other side was out of reach, or busy."""


class Webhook:
    """Posts the question, its id and until when a reply counts: nothing else. Tries again with growing pauses."""

    name = "webhook"

    def __init__(
        self,
        settings: Experts,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if settings.secret is None or not settings.webhook_url:
            raise ConfigError("the channel webhook needs experts.webhook_url and experts.secret; set both")
        self._settings = settings
        self._secret = settings.secret.get_secret_value()
        self._transport = transport
        self._clock = clock

    async def send(self, question: CondensedQuestion, *, request_id: str, expires_at: datetime) -> None:
        """Post until it is taken; raises `ProviderError` after `experts.attempts`, or when it is refused for good."""
        body = json.dumps(
            {
                "kind": "question",
                "id": request_id,
                "question": question.question,
                "expires_at": expires_at.isoformat(),
            },
            ensure_ascii=False,
        ).encode()
        retrying = AsyncRetrying(
            retry=retry_if_exception_type(_TryAgain),
            wait=wait_exponential(multiplier=self._settings.retry_seconds, max=60),
            stop=stop_after_attempt(self._settings.attempts),
            before_sleep=_say,
            reraise=True,
        )
        async with httpx.AsyncClient(transport=self._transport, timeout=self._settings.seconds) as client:
            await retrying(self._post, client, body)

    async def _post(self, client: httpx.AsyncClient, body: bytes) -> None:
        headers = {"Content-Type": "application/json", **signed(self._secret, body, now=self._clock())}
        where = f"the webhook at {urlsplit(self._settings.webhook_url).hostname}"
        try:
            reply = await client.post(self._settings.webhook_url, content=body, headers=headers)
        except httpx.HTTPError as error:
            raise _TryAgain(f"{where} cannot be reached ({type(error).__name__})") from error
        if reply.is_success:
            return
        if reply.status_code in PASSING or reply.status_code >= 500:
            raise _TryAgain(f"{where} answered {reply.status_code}")
        raise NotTaken(
            f"{where} refused the question with {reply.status_code}; see experts.webhook_url, experts.secret"
        )


def _say(state: RetryCallState) -> None:
    error = state.outcome.exception() if state.outcome else None
    log.warning("try %d to send a question failed: %s", state.attempt_number, error)
