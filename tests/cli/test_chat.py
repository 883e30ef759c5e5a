"""Chats in a real terminal, with the keys a person presses."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Start = Callable[..., Any]
PROMPT = "\n> "
DOG = "How much is a ticket for a dog?"


def resumed_by(shown: str) -> str:
    """The conversation that a chat says it can be resumed by."""
    found = re.search(r"condensery chat --conversation (\S+)", shown)
    assert found, shown
    return found[1]


@pytest.mark.usefixtures("corpus_index")
def test_a_conversation_with_the_quoting_default(in_terminal: Start) -> None:
    chat = in_terminal("chat")
    assert "CONDENSERY_LLM__MODEL" in chat.expect(PROMPT)
    chat.type("When does the first car go up on weekdays?")
    assert "[1] timetable.html" in chat.expect(PROMPT)
    chat.type("And on Sundays?")
    answer = chat.expect(PROMPT)
    assert "Searched for: " in answer
    assert "08:10" in answer
    chat.type(":sources")
    assert re.search(r"\[1\] timetable\.html.*\n.*08:10", chat.expect(PROMPT), re.DOTALL)
    chat.press("D")
    assert chat.leave() == 0
    assert "To go on with this conversation" in chat.shown


@pytest.mark.usefixtures("corpus_index")
def test_ctrl_c_stops_the_answer_and_keeps_the_chat(in_terminal: Start, slow_model: Any, command: Start) -> None:
    chat = in_terminal("chat")
    assert "CONDENSERY_LLM__MODEL" not in chat.expect(PROMPT)
    chat.type(DOG)
    chat.expect(slow_model.before.rstrip())
    chat.press("C")
    assert "(stopped)" in chat.expect(PROMPT)
    slow_model.go_on.set()
    chat.type(DOG)
    assert slow_model.before + slow_model.after in chat.expect(PROMPT)
    chat.interrupt_prompt()
    assert chat.leave() == 0
    assert "Traceback" not in chat.shown
    done = command("ask", "--json", "-", "--conversation", resumed_by(chat.shown), stdin=DOG)
    assert json.loads(done.out)["outcome"] == "answered"
    told = [message["content"] for message in slow_model.requests[-1]["messages"]]
    assert slow_model.before.strip() in [text.strip() for text in told]


@pytest.mark.usefixtures("corpus_index")
def test_ctrl_c_stops_a_single_answer_and_keeps_it(in_terminal: Start, slow_model: Any) -> None:
    asking = in_terminal("ask", DOG, "--conversation", "dogs")
    asking.expect(slow_model.before.rstrip())
    asking.press("C")
    assert asking.leave() == 130
    assert "(stopped)" in asking.shown
    assert "Traceback" not in asking.shown
    chat = in_terminal("chat", "--conversation", "dogs")
    assert slow_model.before.rstrip() in chat.expect(PROMPT)


@pytest.mark.usefixtures("corpus_index")
def test_a_conversation_is_taken_up_again(in_terminal: Start, command: Start) -> None:
    command("ask", "When does the first car go up on weekdays?", "--conversation", "cars")
    chat = in_terminal("chat", "--conversation", "cars")
    assert "When does the first car go up on weekdays?" in chat.expect(PROMPT)
    chat.type("And on Sundays?")
    assert "08:10" in chat.expect(PROMPT)
    chat.type(":new")
    chat.expect(PROMPT)
    chat.type(":quit")
    chat.leave()
    assert "To go on" not in chat.shown


@pytest.mark.usefixtures("empty_index")
def test_an_empty_index_is_said_at_the_start_and_ctrl_c_leaves(in_terminal: Start) -> None:
    chat = in_terminal("chat")
    assert "condensery ingest PATH" in chat.expect(PROMPT)
    chat.interrupt_prompt()
    assert chat.leave() == 0
    assert "Traceback" not in chat.shown
    assert "To go on" not in chat.shown


@pytest.mark.usefixtures("corpus_index")
def test_lines_from_a_pipe_are_a_chat_too(program: Start) -> None:
    lines = [
        ":method",
        ":method bm25",
        DOG,
        ":engine nonsense",
        ":nothing",
        ":help",
        ":sources",
        ":memory",
        ":engine simple",
        ":)",
    ]
    done = program("chat", input="\n".join(lines))
    assert done.returncode == 0
    assert "method: hybrid (of " in done.stdout
    assert "method: bm25 (of " in done.stdout
    assert f"> {DOG}\n" in done.stdout
    assert "6 francs" in done.stdout
    assert "Nothing is remembered about local." in done.stdout
    assert "engine: simple (of " in done.stdout
    assert "error: no chat engine 'nonsense'; choose one of " in done.stderr
    assert "error: no command ':nothing'; choose one of :agent, " in done.stderr
    assert "\x1b" not in done.stdout + done.stderr


@pytest.mark.usefixtures("corpus_index")
def test_a_reader_that_leaves_early_ends_the_program_quietly(python: list[str], tmp_path: Path) -> None:
    import subprocess

    with (tmp_path / "errors").open("w+") as errors:
        code = "from condensery.cli import main; main()"
        asking = subprocess.Popen([*python, code, "ask", DOG, "--json"], stdout=subprocess.PIPE, stderr=errors)
        assert asking.stdout is not None
        asking.stdout.close()
        assert asking.wait() == 1
        errors.seek(0)
        assert errors.read() == ""


@pytest.mark.usefixtures("empty_index")
def test_an_interrupted_ingestion_leaves_whole_files_and_says_so(
    in_terminal: Start, notes: Path, command: Start, locked: Callable[[], Any]
) -> None:
    (notes / "aaa.pdf").write_bytes(b"no PDF at all")
    with locked():
        ingesting = in_terminal("ingest", notes)
        ingesting.expect("1/3 files")
        ingesting.press("C")
        ingesting.expect("Stopped: 1 of 3 files were done.")
        assert ingesting.leave() == 130
    assert "Traceback" not in ingesting.shown
    (notes / "aaa.pdf").unlink()
    assert command("ingest", notes).out.startswith("2 added, 0 replaced, 0 unchanged, 0 failed")
