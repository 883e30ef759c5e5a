"""What becomes of an engine that fails, takes too long, or gives what cannot be searched with."""

import asyncio
import logging
from collections.abc import Sequence

from condensery.errors import CondenseryError
from condensery.retrieval.text import is_blank
from condensery.workflows.engines.base import ChatEngine, PreparedQuery
from condensery.workflows.turn import Exchange, FallbackReason

log = logging.getLogger(__name__)


def usable(prepared: PreparedQuery, max_chars: int) -> PreparedQuery:
    """`prepared` when it can be searched with, else its original query with the reason why not."""
    original = prepared.original_query
    if is_blank(prepared.search_query):
        return PreparedQuery(original, original, FallbackReason.BLANK)
    texts = [prepared.search_query, *(probe.text for probe in prepared.probes)]
    if any(len(text) > max_chars for text in texts):
        return PreparedQuery(original, original, FallbackReason.TOO_LONG)
    return prepared


async def prepare_safely(
    engine: ChatEngine, message: str, history: Sequence[Exchange], *, seconds: float, max_chars: int
) -> PreparedQuery:
    """What `engine` makes of `message`, or the message itself with the reason when it fails or takes too long."""
    try:
        async with asyncio.timeout(seconds):
            return usable(await engine.prepare(message, history), max_chars)
    except TimeoutError:
        return PreparedQuery(message, message, FallbackReason.TIMED_OUT)
    except CondenseryError as error:
        log.warning("condensing failed: %s", error)
    except Exception as error:
        log.error("the chat engine %s failed (%s)", type(engine).__name__, type(error).__name__)
        log.debug("the reason", exc_info=error)
    return PreparedQuery(message, message, FallbackReason.ERROR)
