"""What every command is told, wherever its options stood on the command line."""

import logging
import os
import shlex
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from condensery.errors import DEBUG_VARIABLE
from condensery.terminal.output import notice

if TYPE_CHECKING:
    from condensery.settings import Settings

WITH_VALUE = ("--data-dir",)
FLAGS = ("--debug", "--verbose", "-v", "-vv", "-vvv")
LEVELS = ((logging.WARNING, logging.CRITICAL), (logging.INFO, logging.WARNING), (logging.DEBUG, logging.INFO))
"""The least severe records shown, ours and the libraries', without `-v`, with `-v` and with `-vv`."""


@dataclass(frozen=True)
class Options:
    """The options of every command."""

    data_dir: Path | None = None
    verbose: int = 0
    debug: bool = False

    def settings(self, **overrides: Any) -> "Settings":
        """The settings, with `overrides` over what was given; raises `ConfigError`."""
        from condensery.settings import load_settings

        given = {} if self.data_dir is None else {"data_dir": self.data_dir}
        return load_settings(**given, **overrides)

    def command(self, words: str) -> str:
        """What to type for another command on the same data."""
        where = "" if self.data_dir is None else f" --data-dir {shlex.quote(str(self.data_dir))}"
        return f"condensery {words}{where}"


def globals_first(arguments: Sequence[str]) -> list[str]:
    """`arguments` with the options of every command in front, so that they may be typed after a command too."""
    front: list[str] = []
    rest: list[str] = []
    waiting = iter(arguments)
    for word in waiting:
        if word == "--":
            rest += [word, *waiting]
        elif word in WITH_VALUE:
            front += [word, *(value for value in [next(waiting, None)] if value is not None)]
        elif word in FLAGS or word.startswith(tuple(f"{name}=" for name in WITH_VALUE)):
            front.append(word)
        else:
            rest.append(word)
    return front + rest


def debugging(arguments: Sequence[str]) -> bool:
    """Whether tracebacks are wanted: `--debug`, or CONDENSERY_DEBUG in the environment."""
    return "--debug" in arguments or os.environ.get(DEBUG_VARIABLE, "").strip().lower() not in ("", "0", "false", "no")


class ShortLog(logging.Handler):
    """Log records on stderr as `warning: …`, with the traceback only when debugging."""

    def __init__(self, options: Options) -> None:
        super().__init__()
        self._debug = options.debug
        self._ours, self._theirs = LEVELS[min(options.verbose, 2)]

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to show the record: some libraries set levels of their own, so those of loggers do not suffice."""
        return record.levelno >= (self._ours if is_ours(record) else self._theirs)

    def emit(self, record: logging.LogRecord) -> None:
        """Print the record; a stderr that is gone is nobody's loss."""
        with suppress(BrokenPipeError):
            notice(f"{record.levelname.lower()}: {self._message(record)}", style="dim")

    def _message(self, record: logging.LogRecord) -> str:
        text = record.getMessage() if is_ours(record) else f"{record.name}: {record.getMessage()}"
        if self._debug and record.exc_info:
            text += "\n" + logging.Formatter().formatException(record.exc_info)
        return text


def is_ours(record: logging.LogRecord) -> bool:
    """Whether the record comes from this package."""
    return record.name.partition(".")[0] == "condensery"


def set_up_logging(options: Options) -> None:
    """Our warnings on stderr and nothing of the libraries; `-v` shows more of both, `-vv` more still."""
    ours, theirs = LEVELS[min(options.verbose, 2)]
    logging.captureWarnings(True)
    logging.basicConfig(level=theirs, handlers=[ShortLog(options)], force=True)
    logging.getLogger("condensery").setLevel(ours)
    if not options.verbose:
        os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
