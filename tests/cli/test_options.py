from pathlib import Path

import pytest

from condensery.terminal.options import Options, globals_first
from condensery.terminal.output import plain


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("chat --data-dir d", "--data-dir d chat"),
        ("chat --data-dir=d", "--data-dir=d chat"),
        ("--data-dir d chat", "--data-dir d chat"),
        ("ask why -v --debug --json", "-v --debug ask why --json"),
        ("ask --json -- --debug", "ask --json -- --debug"),
        ("chat --data-dir", "--data-dir chat"),
        ("", ""),
    ],
)
def test_options_of_every_command_may_stand_behind_the_command(typed: str, meant: str) -> None:
    assert globals_first(typed.split()) == meant.split()


def test_a_suggested_command_sees_the_same_data() -> None:
    assert Options().command("chat") == "condensery chat"
    assert Options(data_dir=Path("my data")).command("chat") == "condensery chat --data-dir 'my data'"


def test_text_from_documents_cannot_command_the_terminal() -> None:
    assert plain("a\x1b]0;title\x07b\x9b31m\r\tc\n") == "a]0;titleb31m\tc\n"


def test_text_from_documents_cannot_turn_the_order_of_a_line() -> None:
    assert plain("pay \u202e001\u202c and \u2066\u2067\u2068b\u2069 \u05d0\u200f") == "pay 001 and b \u05d0\u200f"
