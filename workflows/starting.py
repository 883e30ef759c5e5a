"""From a caller's arguments to the start of a turn; whatever is wrong with them is a `ConfigError` in words."""

import uuid
from collections.abc import Mapping, Sequence

from condensery.errors import ConfigError
from condensery.retrieval.text import is_blank
from condensery.retrieval.types import Scope
from condensery.services import Services
from condensery.storage.scope import checked_scope
from condensery.storage.text import clean_text
from condensery.workflows.events import AgentCall, ChatStart
from condensery.workflows.turn import TurnKey, TurnOptions

LONGEST_ID = 512


def turn_options(
    *, engine: str | None, method: str | None, namespaces: Sequence[str], filters: Mapping[str, str] | None
) -> TurnOptions:
    """The caller's choices. A single namespace may be given as a string; filter values are compared as strings."""
    names = (namespaces,) if isinstance(namespaces, str) else tuple(namespaces)
    values = {key: str(value) for key, value in (filters or {}).items()}
    return TurnOptions(engine=engine, method=method, scope=checked_scope(Scope(namespaces=names, filters=values)))


def turn_start(
    message: str,
    options: TurnOptions,
    *,
    conversation_id: str | None,
    user_id: str | None,
    organization_id: str | None = None,
    chat: bool,
) -> ChatStart:
    """The start of a turn with an id of its own, and of a conversation of its own when none is given.

    Characters that no text may hold (NUL, lone surrogates) leave the message; in an id they are an error, since two
    ids that differ in them alone would become one.
    """
    if not isinstance(message, str):
        raise ConfigError(f"a message is text, got {type(message).__name__}")
    key = TurnKey(
        turn_id=str(uuid.uuid4()),
        conversation_id=checked_id("conversation_id", conversation_id) or str(uuid.uuid4()),
        user_id=checked_id("user_id", user_id),
        organization_id=checked_id("organization_id", organization_id),
    )
    return (ChatStart if chat else AgentCall)(key=key, message=clean_text(message), options=options)


def checked_id(name: str, value: str | None) -> str | None:
    """`value`, or a `ConfigError` when it cannot name anything; an empty conversation id counts as none."""
    if value is None or (value == "" and name == "conversation_id"):
        return None
    if not isinstance(value, str) or is_blank(value):
        raise ConfigError(f"{name} is text that is not blank, got {value!r}")
    if clean_text(value) != value or len(value) > LONGEST_ID:
        raise ConfigError(f"{name} has at most {LONGEST_ID} characters and no control characters or lone surrogates")
    return value


def check(services: Services, options: TurnOptions) -> None:
    """Raise `ConfigError` for choices that cannot be met under these settings."""
    services.engine(services.settings.condense.engine if options.engine is None else options.engine)
    plan = services.plan(options.method)
    if options.method:
        services.check(plan)
