"""Facts named by how their ids begin; what works without an embedding model, and in a narrow terminal."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from condensery.errors import ConfigError
from condensery.memory.types import Fact
from condensery.models.embedding import open_embedder
from condensery.terminal.fact_ids import whole_id
from condensery.terminal.output import out
from condensery.tests.cli.remembered import Keep

Command = Callable[..., Any]


pytestmark = pytest.mark.usefixtures("empty_index", "one_embedder")


def test_facts_are_named_by_how_their_ids_begin(command: Command, keep: Keep) -> None:
    (oslo, rex) = keep("I live in Oslo.", "My dog is called Rex.")
    assert "I live in Oslo." in command("memory", "show", oslo.id[:8].upper()).out
    assert command("memory", "forget", oslo.id[:7]).code == 1
    assert command("memory", "forget", oslo.id[:8], rex.id.upper()).out.startswith(f"forgot {oslo.id}\n")
    assert command("memory", "list", "--history", "--json").out == "[]\n"


async def test_an_id_that_begins_several_is_refused() -> None:
    facts = [Fact(id=f"12345678-{end}", text="I live in Oslo.") for end in ("a1", "a2", "b1")]
    found = Found(facts)
    assert await whole_id(found, "12345678-B", user=None) == "12345678-b1"  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"ids of 2 facts begin with 12345678-a: 12345678-a1, 12345678-a2; type more"):
        await whole_id(found, "12345678-a", user=None)  # type: ignore[arg-type]


class Found:
    """What `whole_id` looks into."""

    def __init__(self, facts: list[Fact]) -> None:
        self.facts, self.control = facts, self

    def user(self, named: str | None) -> str:
        return named or "local"

    async def list(self, user: str, *, history: bool) -> list[Fact]:
        return self.facts


def test_facts_are_listed_and_forgotten_without_an_embedding_model(
    command: Command, keep: Keep, monkeypatch: pytest.MonkeyPatch
) -> None:
    (fact, _, _) = keep("I live in Oslo.", "My dog is called Rex.", "I am tall.")
    monkeypatch.setattr("condensery.terminal.lazy_memory.open_embedder", open_embedder)
    monkeypatch.setenv("CONDENSERY_EMBEDDINGS__MODEL", "/there/is/no/such/model")
    assert "I live in Oslo." in command("memory", "list").out
    assert command("memory", "forget", fact.id).out == f"forgot {fact.id}\n"
    done = command("memory", "forget", "--everything", "--yes")
    assert done.code == 0
    assert done.out.startswith("forgot 2 facts; the database holds none of them (they were not searched for: ")
    assert command("memory", "list", "--history", "--json").out == "[]\n"
    assert json.loads(command("memory", "export").out)["facts"] == []


def test_in_a_narrow_terminal_a_fact_has_lines_of_its_own(
    command: Command, keep: Keep, monkeypatch: pytest.MonkeyPatch
) -> None:
    (fact,) = keep("I live in Oslo, in the house with the green door.")
    monkeypatch.setattr(out, "width", 40)
    lines = [line.rstrip() for line in command("memory", "list", "--history").out.splitlines()]
    assert lines[:2] == ["I live in Oslo, in the house with the", "green door."]
    assert fact.id[:8] in lines[2]
    assert max(map(len, lines)) <= 40


def test_too_long_an_id_is_refused_with_how_long_it_may_be(command: Command) -> None:
    for words in (["list"], ["off"], ["forget", "--everything", "--yes"]):
        done = command("memory", *words, "--user", "語" * 300)
        assert (done.code, done.out) == (2, "")
        assert "has at most 256 characters and 1024 bytes in UTF-8, got 300 characters and 900 bytes" in done.err
    assert command("memory", "forget", "--everything", "--yes", "--user", "語" * 256).code == 0
