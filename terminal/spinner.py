"""A sign of life on stderr, while that is a terminal."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.status import Status

from condensery.terminal.output import err


class Spinner:
    """Turns from the start until `stop`; a second `stop` does nothing."""

    def __init__(self, text: str) -> None:
        self._status = Status(text, console=err) if err.is_terminal else None
        if self._status:
            self._status.start()

    def stop(self) -> None:
        """Take the spinner away."""
        if self._status:
            self._status.stop()
        self._status = None


@contextmanager
def spinning(text: str) -> Iterator[None]:
    """A spinner for the length of a `with`."""
    spinner = Spinner(text)
    try:
        yield
    finally:
        spinner.stop()
