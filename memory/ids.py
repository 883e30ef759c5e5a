"""How long the ids may be that memory, conversations and turns are kept under."""

from condensery.errors import ConfigError

LONGEST_ID = 256
"""Characters."""

LONGEST_ID_BYTES = 1024
"""In UTF-8. Two ids share one entry of an index, for which Postgres has room for 2,700 bytes."""


def short_enough(value: str, what: str) -> str:
    """`value`; raises `ConfigError` for an id that is too long. `what` it is the id of is said to people."""
    size = len(value.encode("utf-8", "surrogatepass"))
    if len(value) > LONGEST_ID or size > LONGEST_ID_BYTES:
        raise ConfigError(
            f"the id of a {what} has at most {LONGEST_ID} characters and {LONGEST_ID_BYTES} bytes in UTF-8, "
            f"got {len(value)} characters and {size} bytes; use a shorter one, such as a digest of it"
        )
    return value
