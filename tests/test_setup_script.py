"""`scripts/setup` and `scripts/pick-python`, with a stand-in for Python so that nothing is downloaded."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NEEDED = ("sh", "sed", "cat", "cksum", "dirname", "ls", "rm", "mkdir", "cp", "chmod", "grep")

FAKE_PYTHON = """#!/bin/sh
case "$1 $2" in
"-m venv")
    mkdir -p "$4/bin" && cp "$0" "$4/bin/python" && : >"$4/pyvenv.cfg"
    echo "venv" >>"$LOG"
    ;;
"-m pip")
    for last; do :; done
    echo "pip $last" >>"$LOG"
    if [ -n "${FAIL:-}" ]; then case "$last" in *$FAIL*) exit 1 ;; esac; fi
    ;;
*) exec "$REAL_PYTHON" "$@" ;;
esac
"""


@dataclass
class Machine:
    """A copy of what the scripts need, in a folder with a space in its name, on a PATH of our choosing."""

    project: Path
    tools: Path
    log: Path

    def add_tool(self, name: str, text: str) -> None:
        (self.tools / name).write_text(text)
        (self.tools / name).chmod(0o755)

    def add_compiler(self) -> None:
        self.add_tool("c++", "#!/bin/sh\nexit 0\n")

    def run(self, script: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run one of the scripts; its pip and venv calls are noted in `calls()`."""
        env = {"PATH": str(self.tools), "HOME": str(self.project), "LOG": str(self.log), "REAL_PYTHON": sys.executable}
        return subprocess.run(
            [self.project / "scripts" / script, *arguments],
            env=env | environment,
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
        )

    def calls(self) -> list[str]:
        """The venv and pip calls since the last look."""
        calls = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return calls


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine with a suitable Python and no compiler."""
    project, tools = tmp_path / "a project", tmp_path / "tools"
    project.mkdir()
    tools.mkdir()
    shutil.copytree(ROOT / "scripts", project / "scripts")
    for name in ("pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, project)
    for name in NEEDED:
        found = shutil.which(name)
        assert found, f"the tests need {name}"
        (tools / name).symlink_to(found)
    machine = Machine(project, tools, tmp_path / "log")
    machine.add_tool("python3", FAKE_PYTHON)
    return machine


APP, LOCAL = "pip .[app]", "pip .[app,local]"


def test_with_a_compiler_chatting_gets_the_local_model_too(machine: Machine) -> None:
    machine.add_compiler()
    assert machine.run("setup", "chat").returncode == 0
    assert machine.calls() == ["venv", APP, LOCAL]


def test_a_second_setup_calls_nothing(machine: Machine) -> None:
    machine.add_compiler()
    machine.run("setup", "chat")
    machine.calls()
    done = machine.run("setup", "chat")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert machine.calls() == []


@pytest.mark.parametrize("name", ["pyproject.toml", "constraints.txt"])
def test_a_change_of_what_is_needed_installs_again_without_a_new_environment(machine: Machine, name: str) -> None:
    machine.add_compiler()
    machine.run("setup", "chat")
    machine.calls()
    with (machine.project / name).open("a") as file:
        file.write("# changed\n")
    machine.run("setup", "chat")
    assert machine.calls() == [APP, LOCAL]


def test_without_a_compiler_chatting_goes_on_and_says_what_is_missing(machine: Machine) -> None:
    done = machine.run("setup", "chat")
    assert done.returncode == 0
    assert machine.calls() == ["venv", APP]
    assert all(hint in done.stderr for hint in ("No C++ compiler", "build-essential", "gcc-c++", "xcode-select"))


def test_a_compiler_installed_later_is_noticed(machine: Machine) -> None:
    machine.run("setup", "chat")
    assert machine.run("setup", "chat").stderr == ""
    machine.calls()
    machine.add_compiler()
    machine.run("setup", "chat")
    assert LOCAL in machine.calls()


def test_without_a_compiler_testing_stops_before_it_installs_anything(machine: Machine) -> None:
    done = machine.run("setup", "dev")
    assert done.returncode != 0
    assert "No C++ compiler" in done.stderr
    assert machine.calls() == []


def test_a_local_model_that_does_not_build_is_not_tried_at_every_start(machine: Machine) -> None:
    machine.add_compiler()
    done = machine.run("setup", "chat", FAIL="local")
    assert done.returncode == 0
    assert "make local" in done.stderr
    machine.calls()
    machine.run("setup", "chat")
    assert machine.calls() == []
    machine.run("setup", "local")
    assert LOCAL in machine.calls()


def test_a_failed_install_fails_and_is_taken_up_again(machine: Machine) -> None:
    machine.add_compiler()
    assert machine.run("setup", "dev", FAIL="app").returncode != 0
    assert machine.calls() == ["venv", "pip .[app,dev]"]
    assert machine.run("setup", "dev").returncode == 0
    assert machine.calls() == ["pip .[app,dev]", "pip .[app,dev,local]"]


def test_the_environment_of_the_tests_serves_for_chatting(machine: Machine) -> None:
    machine.add_compiler()
    machine.run("setup", "dev")
    machine.calls()
    machine.run("setup", "chat")
    assert machine.calls() == []


def test_the_environment_for_chatting_lacks_what_the_tests_need(machine: Machine) -> None:
    machine.add_compiler()
    machine.run("setup", "chat")
    machine.calls()
    machine.run("setup", "dev")
    assert machine.calls() == ["pip .[app,dev]", "pip .[app,dev,local]"]


def test_a_project_that_was_moved_gets_a_new_environment(machine: Machine) -> None:
    machine.add_compiler()
    machine.run("setup", "chat")
    machine.calls()
    machine.project = machine.project.rename(machine.project.with_name("moved"))
    machine.run("setup", "chat")
    assert machine.calls() == ["venv", APP, LOCAL]


def test_a_folder_that_is_no_environment_is_left_alone(machine: Machine) -> None:
    precious = machine.project / "mine" / "thesis.txt"
    precious.parent.mkdir()
    precious.write_text("three years of work")
    done = machine.run("setup", "chat", "mine")
    assert done.returncode != 0
    assert "no virtual environment" in done.stderr
    assert precious.exists()
    assert machine.calls() == []


def test_an_unsuitable_python_is_passed_over(machine: Machine) -> None:
    machine.add_tool("python3", "#!/bin/sh\necho 3.9\n")
    machine.add_tool("python3.12", FAKE_PYTHON)
    assert machine.run("pick-python").stdout.strip() == str(machine.tools / "python3.12")


def test_without_a_suitable_python_it_says_what_it_found_and_needs(machine: Machine) -> None:
    machine.add_tool("python3", "#!/bin/sh\necho 3.9\n")
    done = machine.run("setup", "chat")
    assert done.returncode != 0
    assert "needs Python 3.11, 3.12 or 3.13; found: 3.9" in done.stderr
    assert machine.calls() == []


def test_a_python_without_venv_is_told_apart_from_none(machine: Machine) -> None:
    machine.add_tool("python3", '#!/bin/sh\ncase "$2" in *ensurepip*) exit 1 ;; esac\necho 3.11\n')
    done = machine.run("pick-python")
    assert done.returncode != 0
    assert "without its venv module" in done.stderr
    assert "python3.11-venv" in done.stderr


def test_the_python_that_is_named_is_the_one_used(machine: Machine, tmp_path: Path) -> None:
    named = tmp_path / "another place" / "python"
    named.parent.mkdir()
    named.symlink_to(machine.tools / "python3")
    assert machine.run("pick-python", PYTHON=str(named)).stdout.strip() == str(named)
    done = machine.run("pick-python", PYTHON=str(tmp_path / "nowhere"))
    assert done.returncode != 0
    assert "nowhere is none that starts" in done.stderr


FAKE_CONDENSERY = '#!/bin/sh\necho "$@" with "${CONDENSERY_LLM__MODEL-the default}"\n'


@pytest.mark.parametrize(
    ("compiler", "environment", "model"),
    [
        (True, {}, "the default"),
        (False, {}, "none"),
        (False, {"CONDENSERY_LLM__MODEL": "mine.gguf"}, "mine.gguf"),
    ],
)
def test_without_the_local_model_the_default_is_switched_off_but_never_a_choice(
    machine: Machine, compiler: bool, environment: dict[str, str], model: str
) -> None:
    if compiler:
        machine.add_compiler()
    machine.run("setup", "chat")
    command = machine.project / ".venv" / "bin" / "condensery"
    command.write_text(FAKE_CONDENSERY)
    command.chmod(0o755)
    done = machine.run("run", str(command.parent.parent), "chat", "--plain", **environment)
    assert done.stdout.strip() == f"chat --plain with {model}"


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_alone_teaches_its_targets() -> None:
    env = {"PATH": os.environ["PATH"]}
    done = subprocess.run(["make", "-C", ROOT], env=env, capture_output=True, text=True, check=True)
    assert all(f"make {target}" in done.stdout for target in ("chat", "terminal", "test", "lint", "clean"))
