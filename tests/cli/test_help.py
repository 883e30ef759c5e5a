import json
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

COMMANDS = ("ingest", "chat", "ask", "documents", "forget", "draw", "settings", "set", "unset", "app", "worker")
HEAVY = ("torch", "llama_index", "sqlalchemy", "transformers", "chainlit", "pydantic_settings")

HELP = """
import json, sys
from condensery.cli import main
sys.argv = ["condensery", *{arguments!r}]
try:
    main()
except SystemExit as leaving:
    assert not leaving.code, leaving.code
print(json.dumps(sorted({{name.partition(".")[0] for name in sys.modules}})), file=sys.stderr)
"""


def loaded_by(python: list[str], *arguments: str) -> set[str]:
    done = subprocess.run([*python, HELP.format(arguments=list(arguments))], capture_output=True, text=True, check=True)
    return set(json.loads(done.stderr))


@pytest.mark.parametrize("arguments", [["--help"], ["chat", "--help"], ["--version"]], ids=" ".join)
def test_help_imports_nothing_that_takes_long(python: list[str], arguments: list[str]) -> None:
    assert loaded_by(python, *arguments).isdisjoint(HEAVY)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_every_command_ends_with_an_example(command: Callable[..., Any], name: str) -> None:
    done = command(name, "--help")
    assert done.code == 0
    assert f" condensery {name}" in done.out.partition("Examples:")[2]


def test_help_lists_every_command(command: Callable[..., Any]) -> None:
    shown = command("--help").out
    assert all(f" {name} " in shown for name in COMMANDS)


def test_the_version_is_that_of_the_package(command: Callable[..., Any]) -> None:
    from importlib.metadata import version

    assert command("--version").out == f"condensery {version('condensery')}\n"
