"""After a turn, while the person reads the answer, what the next turn will need is made ready.

The vectors of what the turn lends to the next search, and, with a local model, the beginning of the next prompts.
"""

import asyncio
import logging
from collections.abc import Sequence

from llama_index.core.llms import ChatMessage

from condensery.errors import CondenseryError
from condensery.retrieval.text import uniform
from condensery.services import Services
from condensery.workflows.budget import PromptParts, as_chat
from condensery.workflows.engines.base import Lends, ReadsAhead
from condensery.workflows.events import ChatStart
from condensery.workflows.history import newest
from condensery.workflows.turn import Exchange

log = logging.getLogger(__name__)


class ReadingAhead:
    """One reading at a time, for the newest turn; the next turn ends it, and so does any other call of the model."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()  # one that was ended needs a moment to let go of the database
        self._closed = False

    def begin(self, services: Services, start: ChatStart) -> None:
        """Read for the turn after `start`, whose turn is stored by now; does not wait. Once closed, does nothing."""
        self.stop()
        if services.settings.history.read_ahead and not self._closed:
            task = asyncio.create_task(_read(services, start))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def stop(self) -> None:
        """End the reading; what was read stays of use."""
        for task in self._tasks:
            task.cancel()

    async def wait(self) -> None:
        """Wait until what is being read is read, or was ended."""
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def close(self) -> None:
        """End the reading, for good: a turn that outlives this begins none."""
        self._closed = True
        self.stop()
        await self.wait()


async def _read(services: Services, start: ChatStart) -> None:
    limits = services.settings.history
    try:
        history = await services.turns.history(
            start.key.conversation_id,
            max_turns=limits.max_turns,
            max_chars=limits.max_chars,
            user_id=start.key.user_id,
        )
        await make_ready(services, start.options.engine, history)
    except CondenseryError as error:
        log.debug("nothing was read ahead: %s", error)
    except Exception:
        log.warning("reading ahead failed; the next turn reads for itself", exc_info=True)


async def make_ready(services: Services, engine: str | None, history: Sequence[Exchange]) -> None:
    """Make ready what a turn after `history` will need; `engine` as a turn's options name one.

    The answer's beginning first, so that the rewrite's, which is asked for before it, is the one at hand.
    """
    condense = services.settings.condense
    engaged = services.engine(condense.engine if engine is None else engine) if condense.enabled else None
    seen = newest(history, condense.history_turns)
    if isinstance(engaged, Lends):
        lent = engaged.lent(seen)
        await asyncio.gather(*(services.embedder.embed_query(uniform(text)) for text in lent))
    if services.answer_model is not None:
        first, second = (_answering(services, history, message) for message in ("a", "b"))
        await services.answer_model.read_ahead(first, second)
    if isinstance(engaged, ReadsAhead):
        await engaged.read_ahead(seen)


def _answering(services: Services, history: Sequence[Exchange], message: str) -> list[ChatMessage]:
    parts = PromptParts(services.prompts.render("system"), lambda chunks: message, history=tuple(history))
    return as_chat(parts.messages())
