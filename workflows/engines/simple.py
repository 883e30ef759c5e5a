"""Searches with the message as it is; no model, no history."""

from collections.abc import Sequence

from condensery.workflows.engines.base import PreparedQuery
from condensery.workflows.turn import Exchange


class Simple:
    """The identity."""

    async def prepare(self, message: str, history: Sequence[Exchange]) -> PreparedQuery:
        return PreparedQuery(search_query=message, original_query=message)
