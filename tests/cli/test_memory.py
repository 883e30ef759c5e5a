import asyncio
import json
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from condensery.models.embedding import open_embedder
from condensery.settings import Settings
from condensery.storage.database import open_database
from condensery.storage.outbox import OutboxRepository
from condensery.storage.turns import TurnRepository
from condensery.tests.cli.remembered import Keep
from condensery.workflows.turn import OutboxEntry, Outcome, Turn, TurnKey

Command = Callable[..., Any]

COMMANDS = (
    "list", "show", "forget", "export", "on", "off", "propose", "proposals", "approve", "reject", "parked", "retry",
    "reembed",
)  # fmt: skip
SAID = datetime(2026, 1, 2, 12, tzinfo=UTC)
CLOSES = "The office in Bergen closes at four."

LOADED = """
import json, sys
from condensery.cli import main
sys.argv = ["condensery", *{arguments!r}]
try:
    main()
except SystemExit as leaving:
    assert not leaving.code, leaving.code
print(json.dumps(sorted({{name.partition(".")[0] for name in sys.modules}})), file=sys.stderr)
"""

pytestmark = pytest.mark.usefixtures("empty_index", "one_embedder")


@pytest.fixture
def park(settings: Settings) -> Callable[[str, str], None]:
    """Saves a turn of a user whose facts could not be stored."""

    async def store(turn_id: str, user: str) -> None:
        key = TurnKey(turn_id=turn_id, conversation_id="c", user_id=user)
        turn = Turn(key=key, message="raw", answer="a", outcome=Outcome.ANSWERED)
        async with open_database(settings) as database:
            payload: dict[str, Any] = {"question": "I live in Oslo.", "answer": "a"}
            await TurnRepository(database).save(turn, OutboxEntry(turn_id=turn_id, kind="memory", payload=payload))
            async with OutboxRepository(database).take() as taken:
                assert taken
                await taken.failed("the model is out of reach", attempts=1, wait_seconds=1)

    return lambda turn_id, user: asyncio.run(store(turn_id, user))


def test_facts_are_listed_for_the_user_of_the_settings(command: Command, keep: Keep) -> None:
    old, new = keep("I live in Oslo.", "I live in Bergen.", slot="home")
    keep("I am a nurse.", user="bob")
    listed = command("memory", "list")
    assert (listed.code, listed.err) == (0, "")
    assert new.id in listed.out
    assert "I live in Bergen." in listed.out
    assert "Oslo" not in listed.out + command("memory", "list", "--user", "bob").out
    history = command("memory", "list", "--history").out
    assert all(word in history for word in (old.id, new.id, "superseded", "holds"))
    (fact,) = json.loads(command("memory", "list", "--json").out)
    assert (fact["id"], fact["text"], fact["slot"]) == (new.id, "I live in Bergen.", "home")


def test_an_empty_memory_says_so(command: Command) -> None:
    done = command("memory", "list", "--user", "nobody")
    assert (done.code, done.out, done.err) == (0, "", "Nothing is remembered about nobody.\n")
    assert command("memory", "list", "--json").out == "[]\n"


def test_a_fact_is_shown_with_its_origin(command: Command, keep: Keep) -> None:
    _, new = keep("I live in Oslo.", "I live in Bergen.", slot="home", turn_id="t", conversation_id="first talk")
    shown = command("memory", "show", new.id).out
    assert all(word in shown for word in ("I live in Bergen.", "first talk", "2026-01-02", "in place of", "Oslo"))
    details = json.loads(command("memory", "show", new.id, "--json").out)
    assert details["fact"]["conversation_id"] == "first talk"
    assert [fact["text"] for fact in details["superseded"]] == ["I live in Oslo."]
    missing = command("memory", "show", new.id, "--user", "bob")
    assert (missing.code, missing.out) == (2, "")
    assert missing.err.startswith("error: this user has no fact")


def test_facts_are_forgotten_by_id(command: Command, keep: Keep) -> None:
    (fact, _) = keep("I live in Oslo.", "My dog is called Rex.")
    done = command("memory", "forget", fact.id, "no-such-fact")
    assert (done.code, done.out) == (1, f"forgot {fact.id}\n")
    assert "there is no fact no-such-fact" in done.err
    assert [fact["text"] for fact in json.loads(command("memory", "list", "--json").out)] == ["My dog is called Rex."]


def test_a_conversation_is_forgotten(command: Command, keep: Keep) -> None:
    keep("I live in Oslo.", conversation_id="c1")
    keep("My dog is called Rex.", conversation_id="c2")
    done = command("memory", "forget", "--conversation", "c1")
    assert (done.code, done.out) == (0, "forgot 1 fact; a search finds none of them\n")
    assert len(json.loads(command("memory", "list", "--json").out)) == 1


def test_everything_is_forgotten_only_with_a_yes(
    command: Command, keep: Keep, park: Callable[[str, str], None]
) -> None:
    keep("I live in Oslo.", "My dog is called Rex.")
    park("t", "local")
    refused = command("memory", "forget", "--everything")
    assert (refused.code, refused.out) == (2, "")
    assert "add --yes" in refused.err
    assert len(json.loads(command("memory", "list", "--json").out)) == 2
    done = command("memory", "forget", "--everything", "--yes")
    assert done.code == 0
    assert done.out == "forgot 2 facts, and 1 turn that waited to be looked at; a search finds none of them\n"
    assert command("memory", "list", "--history", "--json").out == "[]\n"
    assert command("memory", "parked", "--json").out == "[]\n"


def test_in_a_terminal_the_person_is_asked(in_terminal: Callable[..., Any], command: Command, keep: Keep) -> None:
    keep("I live in Oslo.")
    terminal = in_terminal("memory", "forget", "--everything")
    terminal.expect("Forget everything that is remembered about local? It cannot be brought back. [y/N]:")
    terminal.type("n")
    assert terminal.leave() == 1
    assert len(json.loads(command("memory", "list", "--json").out)) == 1


@pytest.mark.parametrize(
    "words", [[], ["f", "--everything"], ["f", "--conversation", "c"], ["--conversation", "c", "--organization", "o"]]
)
def test_what_is_to_be_forgotten_is_one_thing(command: Command, words: list[str]) -> None:
    done = command("memory", "forget", *words)
    assert (done.code, done.out) == (2, "")


def test_memory_is_switched_off_and_on_for_a_user(command: Command, keep: Keep) -> None:
    keep("I live in Oslo.")
    assert command("memory", "off").out.startswith("memory is off for local: nothing is recalled or stored")
    listed = command("memory", "list")
    assert "I live in Oslo." in listed.out
    assert "Memory is off for local: condensery memory on switches it on." in listed.err
    assert command("memory", "list", "--user", "bob").err == "Nothing is remembered about bob.\n"
    assert command("memory", "on").out == "memory is on for local\n"
    assert command("memory", "list").err == ""


def test_the_switch_needs_no_model_that_can_be_opened(
    python: list[str], command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONDENSERY_EMBEDDINGS__MODEL", "/there/is/no/such/model")
    code = LOADED.format(arguments=["memory", "off"])
    done = subprocess.run([*python, code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("memory is off for local")
    assert set(json.loads(done.stderr.splitlines()[-1])).isdisjoint({"mem0", "torch", "llama_cpp", "transformers"})


def test_an_export_is_written_as_json(
    command: Command, keep: Keep, park: Callable[[str, str], None], tmp_path: Path
) -> None:
    keep("Ich wohne in Zürich.")
    park("t", "local")
    exported = json.loads(command("memory", "export").out)
    assert [fact["text"] for fact in exported["facts"]] == ["Ich wohne in Zürich."]
    assert exported["parked"][0]["payload"]["question"] == "I live in Oslo."
    done = command("memory", "export", "--output", tmp_path / "memory.json")
    assert (done.code, done.out) == (0, "")
    written = (tmp_path / "memory.json").read_text(encoding="utf-8")
    assert "Zürich" in written
    assert json.loads(written)["facts"] == exported["facts"]
    assert command("memory", "export", "--output", tmp_path / "none" / "memory.json").code == 2


def test_a_proposal_is_shared_when_an_approver_says_so(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONDENSERY_MEMORY__APPROVERS", "boss")
    monkeypatch.setenv("CONDENSERY_MEMORY__ORGANIZATION", "acme")
    waiting = json.loads(command("memory", "propose", CLOSES, "--json").out)
    assert (waiting["text"], waiting["proposed_by"], waiting["organization_id"]) == (CLOSES, "local", "acme")
    assert waiting["id"] in command("memory", "proposals").out
    refused = command("memory", "approve", waiting["id"])
    assert (refused.code, refused.out) == (2, "")
    assert "'local' may not decide about an organization's facts: memory.approvers names others" in refused.err
    approved = command("memory", "approve", waiting["id"], "--user", "boss")
    assert (approved.code, approved.out) == (0, f"approved {waiting['id']}: acme shares it from now on\n")
    again = command("memory", "reject", waiting["id"], "--user", "boss")
    assert (again.code, again.err) == (2, f"error: the proposal {waiting['id']} was approved by boss already\n")
    assert command("memory", "proposals").err == "No proposal waits.\n"
    assert CLOSES in command("memory", "list", "--organization", "acme").out
    assert command("memory", "list", "--organization", "other", "--json").out == "[]\n"
    assert command("memory", "forget", "--everything", "--yes", "--organization", "acme").code == 2
    gone = command("memory", "forget", "--everything", "--yes", "--organization", "acme", "--user", "boss")
    assert (gone.code, gone.out) == (0, "forgot 1 fact; a search finds none of them\n")


def test_without_an_organization_the_way_out_is_named(command: Command) -> None:
    done = command("memory", "proposals")
    assert (done.code, done.out) == (2, "")
    assert "add --organization ID, or set memory.organization" in done.err


def test_parked_turns_are_listed_without_what_was_said_and_tried_again(
    command: Command, park: Callable[[str, str], None]
) -> None:
    assert command("memory", "parked").err == "Nothing is parked.\n"
    park("t1", "local")
    park("t2", "bob")
    listed = command("memory", "parked")
    assert "the model is out of reach" in listed.out
    assert "bob" not in listed.out
    assert "Oslo" not in listed.out
    rows = json.loads(command("memory", "parked", "--everybody", "--json").out)
    assert [(row["user_id"], row["turn_id"]) for row in rows] == [("local", "t1"), ("bob", "t2")]
    assert "payload" not in rows[0]
    partly = command("memory", "retry", rows[0]["id"], rows[1]["id"])
    assert (partly.code, partly.out) == (1, "1 turn will be tried again\n")
    assert "1 of those named not parked" in partly.err
    assert command("memory", "retry", "--everybody").out == "1 turn will be tried again\n"
    assert command("memory", "retry").out == "0 turns will be tried again\n"


def test_facts_are_embedded_anew_for_another_model(
    command: Command, keep: Keep, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep("I live in Oslo.", "My dog is called Rex.")
    monkeypatch.setenv("CONDENSERY_EMBEDDINGS__DOCUMENT_PREFIX", "passage: ")
    monkeypatch.setattr("condensery.terminal.lazy_memory.open_embedder", open_embedder)
    assert len(json.loads(command("memory", "list", "--json").out)) == 2
    monkeypatch.setenv("CONDENSERY_MEMORY__APPROVERS", "local")
    waiting = json.loads(command("memory", "propose", CLOSES, "--organization", "acme", "--json").out)
    refused = command("memory", "approve", waiting["id"], "--organization", "acme")
    assert (refused.code, refused.out) == (2, "")
    assert "embed it anew with `condensery memory reembed`" in refused.err
    done = command("memory", "reembed")
    assert done.code == 0
    assert done.out.startswith("embedded 2 facts with ")
    assert len(json.loads(command("memory", "list", "--json").out)) == 2


@pytest.mark.parametrize("name", ["list", "off", "export", "parked"])
def test_a_blank_user_is_refused(command: Command, name: str) -> None:
    done = command("memory", name, "--user", " ")
    assert (done.code, done.out) == (2, "")
    assert "id that is not blank" in done.err


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_every_command_ends_with_an_example(command: Command, name: str) -> None:
    done = command("memory", name, "--help")
    assert done.code == 0
    assert f" condensery memory {name}" in done.out.partition("Examples:")[2]
    assert f" {name} " in command("memory", "--help").out


@pytest.mark.parametrize("arguments", [["memory", "--help"], ["memory", "forget", "--help"], ["worker", "--help"]])
def test_help_imports_nothing_that_takes_long(python: list[str], arguments: list[str]) -> None:
    done = subprocess.run([*python, LOADED.format(arguments=arguments)], capture_output=True, text=True, check=True)
    assert set(json.loads(done.stderr)).isdisjoint({"mem0", "torch", "sqlalchemy", "pydantic_settings", "llama_index"})
