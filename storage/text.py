"""Text and JSON as Postgres accepts them: without NUL characters, lone surrogates and non-finite numbers."""

import math

from pydantic import JsonValue


def clean_text(text: str) -> str:
    """Return `text` without NUL characters; halves of a surrogate pair are joined, lone ones become U+FFFD.

    Clean before offsets are taken: the result may be shorter. Text that needs nothing comes back as it is.
    """
    text = text.replace("\x00", "")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def clean_json(value: JsonValue) -> JsonValue:
    """Return `value` with every string and key cleaned and every number finite (NaN and infinities become 0.0)."""
    match value:
        case str():
            return clean_text(value)
        case float() if not math.isfinite(value):
            return 0.0  # JSON has no such number, and a turn must not be lost over a score
        case dict():
            return {clean_text(key): clean_json(item) for key, item in value.items()}
        case list():
            return [clean_json(item) for item in value]
    return value
