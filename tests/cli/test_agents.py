"""Named agents on the command line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]
EXAMPLES = Path(__file__).parents[2] / "examples" / "classify.toml"
DECLARED = f"""
[agents.brief]
description = "One passage at most"
[agents.brief.retrieval]
top_k = 1

[agents.companion]
kind = "chat"

[agents.tickets]
kind = "few_shot"
examples = "{EXAMPLES}"
"""


@pytest.fixture
def declare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Writes a settings file and lets it be the one that is read."""

    def write(text: str) -> None:
        path = tmp_path / "condensery.toml"
        path.write_text(text)
        monkeypatch.setenv("CONDENSERY_CONFIG", str(path))

    return write


@pytest.mark.usefixtures("corpus_index")
def test_the_agents_are_listed_and_asked(command: Command, declare: Callable[[str], None]) -> None:
    declare(DECLARED)
    done = command("agents", "--json")
    rows = {row["name"]: row for row in json.loads(done.out)}
    assert list(rows) == ["default", "brief", "companion", "tickets"]
    assert (rows["companion"]["kind"], rows["companion"]["method"]) == ("chat", None)
    assert "One passage at most" in " ".join(command("agents").out.split())
    turn = json.loads(command("ask", "--agent", "brief", "What does the annual pass cost?", "--json").out)
    assert len(turn["evidence"]) == 1


@pytest.mark.usefixtures("corpus_index")
def test_a_text_is_labelled(command: Command, declare: Callable[[str], None]) -> None:
    declare(DECLARED)
    done = command("classify", "--agent", "tickets", "Do pensioners get cheaper tickets?")
    assert (done.code, done.out.split()[0]) == (0, "fares")
    found = json.loads(command("classify", "--agent", "tickets", "-", "--json", stdin="My scarf is gone.").out)
    assert (found["label"], bool(found["neighbours"])) == ("lost_property", True)


@pytest.mark.usefixtures("corpus_index")
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("ask", "--agent", "nobody", "x"), "no agent 'nobody'; choose one of brief, companion, default, tickets"),
        (("ask", "--agent", "tickets", "x"), "condensery classify"),
        (("classify", "--agent", "brief", "x"), "is of the kind rag and has no labels"),
    ],
)
def test_a_wrong_agent_is_told(
    command: Command, declare: Callable[[str], None], arguments: tuple[str, ...], told: str
) -> None:
    declare(DECLARED)
    done = command(*arguments)
    assert done.code == 2
    assert told in " ".join(done.err.split())


@pytest.mark.usefixtures("corpus_index")
def test_an_agent_that_cannot_be_used_is_told_by_every_command(
    command: Command, declare: Callable[[str], None]
) -> None:
    declare("[agents.broken.condense]\nengine = 'magic'\n")
    for arguments in (("agents",), ("ask", "x")):
        done = command(*arguments)
        assert done.code == 2
        assert "the agent broken cannot be used" in done.err
