"""One root error, split by who must act: the operator, the provider, or nobody because it is by design."""

from enum import StrEnum
from traceback import format_tb

DEBUG_VARIABLE = "CONDENSERY_DEBUG"
"""The environment variable that makes the command line show tracebacks."""


LONGEST_NAME = 100
"""Characters of a name that an error message repeats."""


def abridged(name: str) -> str:
    """`name` as an error message repeats it: cut when it is longer than any name there is."""
    return name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}…"


class CondenseryError(Exception):
    """Root of every error this package raises on purpose."""


class ConfigError(CondenseryError):
    """The operator must change a setting, a path or an installation; the message names the way out."""


class UnknownName(ConfigError):
    """A look-up in a table of names failed; the message lists the choices."""

    def __init__(self, what: str, got: str, choices: list[str]) -> None:
        super().__init__(f"no {what} '{abridged(got)}'; choose one of {', '.join(sorted(choices))}")
        self.choices = sorted(choices)


class ProviderError(CondenseryError):
    """A model, a database or an endpoint failed; trying again may help."""


class Busy(ProviderError):
    """A bounded queue is full; try again in a moment."""


class BrokenOff(ProviderError):
    """A model stopped in the middle of an answer; what it said until then is kept."""


class RefusalReason(StrEnum):
    """Why a turn ended without an answer, by design. Each has a localized text in every locale."""

    CONDENSATION_EMPTY = "condensation_empty"
    INPUT_TOO_LARGE = "input_too_large"
    NOTHING_FOUND = "nothing_found"
    INSUFFICIENT_CONTEXT = "insufficient_context"
    NOTHING_ASKED = "nothing_asked"
    REJECTED_BY_GUARD = "rejected_by_guard"
    NO_MODEL = "no_model"
    EXPERT_DECLINED = "expert_declined"
    EXPERT_SILENT = "expert_silent"
    EXPERT_UNREACHABLE = "expert_unreachable"
    TIMED_OUT = "timed_out"
    BROKEN_OFF = "broken_off"
    BUSY = "busy"
    FAILED = "failed"


class Refusal(CondenseryError):
    """The turn is refused by design; shown to the user as the localized text of its reason."""

    def __init__(self, reason: RefusalReason) -> None:
        super().__init__(reason.value)
        self.reason = reason


def loggable(error: Exception) -> str:
    """What the log may say: our own words; of another error its kind and place, for its text may quote a message."""
    if isinstance(error, CondenseryError):
        return str(error)
    return f"{type(error).__name__}\nTraceback (most recent call last):\n{''.join(format_tb(error.__traceback__))}"
