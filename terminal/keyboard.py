"""Reading what a person types, with their earlier lines at hand, or what a pipe sends."""

import logging
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from condensery.terminal.output import out

log = logging.getLogger(__name__)

PROMPT = "> "
KEPT_LINES = 1000


class Keyboard:
    """Lines from stdin. In a terminal that has readline they can be edited, and are kept in the file `history`."""

    def __init__(self, history: Path) -> None:
        self.interactive = sys.stdin.isatty() and sys.stdout.isatty()
        self._history = history
        self._readline = _readline() if self.interactive else None
        if self._readline and history.exists():
            self._guard(self._readline.read_history_file)

    def read(self) -> str | None:
        """The next line without its end; None when the person leaves (Ctrl-C, Ctrl-D) or the input ends."""
        try:
            if self.interactive:
                return input(PROMPT)
            line = sys.stdin.readline()
        except (EOFError, KeyboardInterrupt):
            out.say()
            return None
        if line:
            out.say(f"{PROMPT}{line.rstrip()}")
        return line.rstrip("\n") if line else None

    def close(self) -> None:
        """Keep the lines for the next time."""
        if self._readline:
            self._readline.set_history_length(KEPT_LINES)
            self._guard(self._readline.write_history_file)

    def _guard(self, act: Callable[[str], None]) -> None:
        try:
            act(str(self._history))
        except OSError as error:
            log.warning("the lines typed earlier cannot be kept in %s: %s", self._history, error.strerror)


def _readline() -> ModuleType | None:
    """The readline module, where Python has it."""
    try:
        import readline
    except ModuleNotFoundError:
        return None
    return readline
