"""What a library raises, in our words."""

from collections.abc import Iterator
from contextlib import contextmanager

from condensery.errors import CondenseryError, ProviderError


@contextmanager
def provider_errors(what: str) -> Iterator[None]:
    """Raise `ProviderError` naming `what` and the kind of error, never its text, which may quote a question."""
    try:
        yield
    except CondenseryError:
        raise
    except Exception as error:
        raise ProviderError(f"{what} failed ({type(error).__name__})") from error
