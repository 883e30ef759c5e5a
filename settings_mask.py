"""Keep secrets out of what people read: listings, errors, logs."""

import re
from collections.abc import Mapping
from typing import Any, get_args

from pydantic import SecretStr
from pydantic.fields import FieldInfo

MASK = "**********"
LONGEST = 100

# A URL with at most one "@", so that nothing behind a badly quoted one is mistaken for the host and shown.
_URL = re.compile(
    r"(?P<scheme>[^/]*://)(?:(?P<user>[^:@/?#]*)(?P<password>:[^@?]*)?@)?"
    r"(?P<place>[^@?#]*)(?P<fragment>#[^@?]*)?(?P<query>\?[^@]*)?",
    re.DOTALL,
)


def is_secret(field: FieldInfo) -> bool:
    """Whether a setting holds a secret, however its type is wrapped."""
    return mentions_type(field.annotation, SecretStr)


def is_optional(field: FieldInfo) -> bool:
    """Whether a setting may be absent."""
    return mentions_type(field.annotation, type(None))


def mentions_type(annotation: Any, kind: type) -> bool:
    return annotation is kind or any(mentions_type(part, kind) for part in get_args(annotation))


def masked(text: str) -> str:
    """The text with the password and the query of a URL covered; text without `://` comes back as it is."""
    if "://" not in text:
        return text
    url = _URL.fullmatch(text)
    if url is None:
        return MASK
    login = "" if url["user"] is None else url["user"] + (":***" if url["password"] else "") + "@"
    return url["scheme"] + login + url["place"] + (url["fragment"] or "") + ("?***" if url["query"] else "")


def shown(value: Any, field: FieldInfo) -> str:
    """A rejected value for an error message: short, and never a secret, wherever it was put."""
    if is_secret(field):
        return MASK
    if isinstance(value, str):
        text = masked(value)
        return repr(text if len(text) <= LONGEST else text[:LONGEST] + "…")
    return repr(value) if isinstance(value, int | float | None) else f"a {type(value).__name__}"


def displayed(value: Any) -> str:
    """A setting's value for a person: secrets covered, of a secret URL all but the password and the query shown."""
    if isinstance(value, SecretStr):
        secret = value.get_secret_value()
        return masked(secret) if "://" in secret else MASK
    if isinstance(value, Mapping):
        return ", ".join(value) or "(none)"
    return "(not set)" if value is None else masked(str(value))
