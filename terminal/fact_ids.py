"""Ids of facts as people type them: in full, or by how they begin."""

import uuid

from condensery.errors import ConfigError
from condensery.terminal.remembering import Remembering

SHORTEST = 8
"""Characters; fewer are too easily another's."""


async def whole_id(found: Remembering, typed: str, *, user: str | None, organization: str | None = None) -> str:
    """The id of the one fact whose id begins as `typed`; `typed` itself when there is none, or it is too short.

    Raises `ConfigError` when several begin so.
    """
    start = typed.strip().lower()
    if len(start) < SHORTEST or _is_whole(start):
        return typed
    if organization is None:
        facts = await found.control.list(found.user(user), history=True)
    else:
        facts = await found.control.list_organization(organization, history=True)
    fitting = sorted(fact.id for fact in facts if fact.id.startswith(start))
    if len(fitting) > 1:
        raise ConfigError(f"the ids of {len(fitting)} facts begin with {start}: {', '.join(fitting)}; type more of it")
    return fitting[0] if fitting else typed


def _is_whole(text: str) -> bool:
    try:
        uuid.UUID(text)
    except ValueError:
        return False
    return True
