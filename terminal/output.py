"""The two consoles: answers and data go to stdout, everything said about them to stderr."""

import os
import re
import sys

from rich.console import Console

WIDTH_OF_A_PIPE = 140
"""Columns of a table that is not shown in a terminal, unless COLUMNS says otherwise."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class Terminal(Console):
    """A rich console without markup, so that brackets in people's words stay brackets."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, markup=False, highlight=False, emoji=False)
        self.in_line = False
        if not self.is_terminal and "COLUMNS" not in os.environ:
            self.width = WIDTH_OF_A_PIPE

    def on_broken_pipe(self) -> None:
        """Leave it to `main`, which ends the program quietly, instead of exiting from wherever this was printed."""
        raise BrokenPipeError

    def say(self, text: str = "", style: str | None = None) -> None:
        """Print text that may come from anywhere; the terminal wraps it."""
        self.print(plain(text), style=style, soft_wrap=True)

    def write(self, text: str) -> None:
        """Print a piece of text exactly, with no line end, at once."""
        self.file.write(plain(text))
        self.file.flush()
        self.in_line = not text.endswith("\n") if text else self.in_line

    def end_line(self) -> None:
        """Go to the start of a line, when `write` left the cursor elsewhere."""
        if self.in_line:
            self.write("\n")


def notice(text: str, style: str | None = None) -> None:
    """Print `text` on stderr, on lines of its own even while an answer is being written."""
    if out.is_terminal and err.is_terminal:
        out.end_line()
    err.say(text, style)


def plain(text: str) -> str:
    """`text` without the characters by which a document could command the terminal or turn the order of a line."""
    return _CONTROL.sub("", text)


def prepare_streams() -> None:
    """Let no character stop the program that the terminal cannot show or the keyboard sent wrongly."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="replace")


out = Terminal()
err = Terminal(stderr=True)
