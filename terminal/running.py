"""From a command to an exit code: one `asyncio.run`, errors in words, Ctrl-C and broken pipes without noise."""

import asyncio
import errno
import os
import sys
import traceback
from collections.abc import Coroutine, Iterator
from contextlib import AbstractContextManager, contextmanager
from enum import IntEnum
from typing import Any

import typer

from condensery.errors import CondenseryError, ConfigError, Refusal
from condensery.terminal.output import err


class Code(IntEnum):
    """Exit codes. 2 is also that of a wrong command line."""

    OK = 0
    FAILED = 1
    CONFIG = 2
    REFUSED = 3
    INTERRUPTED = 130


def run(work: Coroutine[Any, Any, Code]) -> None:
    """Run a command to its end and leave with its exit code; Ctrl-C cancels it and lets it clean up."""
    try:
        code = asyncio.run(work)
    except KeyboardInterrupt:
        code = Code.INTERRUPTED
    raise typer.Exit(code)


def starting() -> AbstractContextManager[None]:
    """A spinner while a command imports what it needs, which takes some seconds."""
    from condensery.terminal.spinner import spinning

    return spinning("Starting…")


@contextmanager
def readable_errors(*, debug: bool) -> Iterator[None]:
    """Leave with one line on stderr and an exit code for whatever goes wrong; `debug` adds the traceback."""
    try:
        yield
    except BrokenPipeError:
        leave_quietly()
    except KeyboardInterrupt:
        sys.exit(Code.INTERRUPTED)
    except Exception as error:
        if debug:
            traceback.print_exc()
        err.say(f"error: {described(error)}")
        if is_full(error):
            drop_output()
        sys.exit(code_of(error))


def described(error: Exception) -> str:
    """Our own errors in their words; what was not foreseen by its kind, for its text may mean nothing to a person."""
    if isinstance(error, CondenseryError):
        return str(error)
    if is_full(error):
        return "cannot write the output: no space left"
    return f"something went wrong inside Condensery ({type(error).__name__}); --debug shows where"


def code_of(error: Exception) -> Code:
    """The exit code that tells who must act."""
    match error:
        case ConfigError():
            return Code.CONFIG
        case Refusal():
            return Code.REFUSED
    return Code.FAILED


def is_full(error: Exception) -> bool:
    """Whether our output went to a full disk; errors about a file of ours have its name."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT) and error.filename is None


def leave_quietly() -> None:
    """End after the reader of our output has gone, as `| head` does."""
    drop_output()
    sys.exit(Code.FAILED)


def drop_output() -> None:
    """Let what stdout still holds go nowhere, or Python would fail once more when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
