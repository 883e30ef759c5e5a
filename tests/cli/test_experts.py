"""`condensery experts`: the desk."""

import asyncio
import json
import socket
import time
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import httpx
import pytest

from condensery.app import open_app
from condensery.experts.signing import signed
from condensery.services import open_services
from condensery.settings import load_settings
from condensery.tests.cli.test_help import HEAVY, loaded_by
from condensery.tests.experts.asking import AGENTS, QUESTION, SECRET, ExpertApp, asked
from condensery.workflows.turn import Turn

Command = Callable[..., Any]
pytestmark = pytest.mark.usefixtures("empty_index")


@pytest.fixture
def question() -> str:
    """The id of a question that waits for a reply."""

    async def ask() -> str:
        async with open_services(load_settings(**AGENTS)) as services, aclosing(ExpertApp(services)) as app:
            return (await asked(app, conversation_id="c", user_id="ada", organization_id="acme")).id

    return asyncio.run(ask())


def turns_of(conversation: str) -> list[Turn]:
    async def look() -> list[Turn]:
        async with open_app(load_settings()) as app:
            return await app.history(conversation)

    return asyncio.run(look())


def test_the_desk_lists_a_question_and_its_answer_reaches_the_conversation(command: Command, question: str) -> None:
    listed = command("experts", "list")
    assert (listed.code, question in listed.out, QUESTION in listed.out) == (0, True, True)
    done = command("experts", "answer", question, "It costs", "12 francs.", "--name", "Weber")
    assert done.code == 0, done.err
    assert "the user finds it" in done.out
    assert "“It costs 12 francs.” [1]" in turns_of("c")[-1].answer
    assert command("experts", "list").err.strip() == "No question waits."
    again = command("experts", "answer", question, "13")
    assert (again.code, "Weber has answered it already" in again.err) == (2, True)


def test_json_holds_what_an_expert_may_see_and_nothing_of_the_user(command: Command, question: str) -> None:
    listed = command("experts", "list", "--json")
    (shown,) = json.loads(listed.out)
    assert shown["id"] == question
    assert shown["question"] == QUESTION
    assert not {"user_id", "organization_id", "conversation_id", "turn_id"} & set(shown)
    assert json.loads(command("experts", "show", question, "--json").out) == shown
    declined = command("experts", "decline", question, "--reason", "Not mine.", "--name", "Weber", "--json")
    assert json.loads(declined.out)["state"] == "declined"
    assert "Not mine." in turns_of("c")[-1].answer
    assert "Not mine." in command("experts", "show", question).out


def test_a_reply_comes_from_stdin_and_a_blank_one_is_refused(command: Command, question: str) -> None:
    assert command("experts", "answer", question, "-", stdin=" \n").code == 2
    assert command("experts", "answer", question, "-", stdin="Twelve.\nThirteen on Sundays.\n").code == 0
    assert "“Thirteen on Sundays.” [1]" in turns_of("c")[-1].answer


def test_what_is_not_there_or_too_long_is_code_2(command: Command, question: str) -> None:
    for arguments in (["show", "nothing"], ["answer", "nothing", "x"], ["decline", "nothing"]):
        done = command("experts", *arguments)
        assert (done.code, "no question 'nothing'" in done.err) == (2, True)
    assert "at most 20000" in command("experts", "answer", question, "-", stdin="x" * 51_200).err


@pytest.mark.parametrize("name", ["list", "show", "answer", "decline", "serve"])
def test_every_command_has_an_example(command: Command, name: str) -> None:
    done = command("experts", name, "--help")
    assert f" condensery experts {name}" in done.out.partition("Examples:")[2]


def test_help_imports_nothing_that_takes_long(python: list[str]) -> None:
    loaded = loaded_by(python, "experts", "--help")
    assert loaded.isdisjoint({*HEAVY, "llama_agents", "starlette", "uvicorn", "httpx"})


def test_serving_needs_a_secret(command: Command) -> None:
    done = command("experts", "serve")
    assert (done.code, "set experts.secret" in done.err) == (2, True)


def test_a_signed_reply_over_the_wire_reaches_the_conversation(
    question: str, monkeypatch: pytest.MonkeyPatch, in_terminal: Callable[..., Any]
) -> None:
    monkeypatch.setenv("CONDENSERY_EXPERTS__SECRET", SECRET)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = in_terminal("experts", "serve", "--port", port)
    server.expect(f"Taking replies at http://127.0.0.1:{port}/reply")
    body = json.dumps({"kind": "reply", "id": question, "reply": "Twelve.", "expert": "Weber"}).encode()
    headers = signed(SECRET, body, now=time.time())
    taken = httpx.post(f"http://127.0.0.1:{port}/reply", content=body, headers=headers, timeout=60)
    assert taken.status_code == 200, taken.text
    in_use = in_terminal("experts", "serve", "--port", port)
    in_use.expect("cannot listen there")
    assert in_use.leave() == 2
    server.press("C")
    assert server.leave() == 0
    assert "“Twelve.” [1]" in turns_of("c")[-1].answer
