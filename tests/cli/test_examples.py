"""The example scripts run as they are."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def output_of(*words: object) -> str:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        list(map(str, words)), capture_output=True, text=True, check=False, env={**os.environ, "PATH": path}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.usefixtures("corpus_index")
def test_asking_from_python() -> None:
    shown = output_of(sys.executable, EXAMPLES / "ask.py")
    assert "Searched for: " in shown
    assert "21:30" in shown
    assert "[1] timetable.html" in shown


@pytest.mark.usefixtures("corpus_index")
def test_watching_a_turn_from_python() -> None:
    kinds = [line.split(maxsplit=1)[0] for line in output_of(sys.executable, EXAMPLES / "stream.py").splitlines()]
    in_order = [kind for at, kind in enumerate(kinds) if kind != "stage" and kind not in kinds[:at]]
    assert in_order == ["question", "evidence", "answer", "finished"]
    assert "stage" in kinds


@pytest.mark.usefixtures("corpus_index")
def test_sorting_messages_by_examples_from_python() -> None:
    labels = [line for line in output_of(sys.executable, EXAMPLES / "classify.py").splitlines() if line[:1].isalpha()]
    assert [line.split()[0] for line in labels] == ["fares", "lost_property", "accessibility", "complaint", "timetable"]


def test_drawing_workflows_from_python(tmp_path: Path) -> None:
    pages = [Path(line) for line in output_of(sys.executable, EXAMPLES / "draw.py", tmp_path).splitlines()]
    assert [page.name for page in pages] == ["RAGAgent.html", "Interpreter.html"]
    assert "translate" in pages[1].read_text()


@pytest.mark.usefixtures("corpus_index")
def test_the_command_line_from_documents_to_answers() -> None:
    shown = output_of("sh", EXAMPLES / "terminal.sh")
    assert "17 unchanged" in shown
    assert "21:30" in shown
    assert "answered tariffs.md" in shown
    assert "exit code 3" in shown
    assert "retrieve" in shown
