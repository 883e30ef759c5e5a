"""The wheel, as somebody gets it who has never seen the repository."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FIXTURES = ROOT / "evals" / "fixtures"  # they are about the example documents, which are not in the wheel either
LEFT_BEHIND = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "build", "dist", "tests", "examples", "docs")


def packages() -> dict[str, Path]:
    """The packages by name, with the folder each lies in."""
    names = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    return {name: ROOT.joinpath(*name.split(".")[1:]) for name in names}


def run(*command: str | Path, cwd: Path) -> str:
    """The output of a command run without any of our variables or paths."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHONPATH", "CONDENSERY"))}
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built by way of the source distribution, from a copy so that no `build/` lands in the root."""
    source, out = tmp_path_factory.mktemp("source") / "condensery", tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT, source, ignore=LEFT_BEHIND)
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, source, cwd=out)
    return next(out.glob("*.whl"))


@dataclass
class Installed:
    """A fresh environment that has the wheel, and the dependencies from the environment of the tests."""

    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    def evaluate(self, code: str) -> str:
        """What the code prints, run far from the repository."""
        return run(self.python, "-c", code, cwd=self.folder)


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("fresh")
    venv.create(folder, with_pip=False, symlinks=True)
    fresh = Installed(folder)
    run(sys.executable, "-m", "pip", "--python", fresh.python, "install", "--no-deps", "--no-index", wheel, cwd=folder)
    site = Path(fresh.evaluate("import sysconfig; print(sysconfig.get_path('purelib'))"))
    # A path in a .pth file is added without running the .pth files in it: the editable install stays out.
    (site / "dependencies.pth").write_text("\n".join(path for path in sys.path if path.endswith("site-packages")))
    return fresh


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert tops == {"condensery", wheel.name.removesuffix("-py3-none-any.whl") + ".dist-info"}


def test_the_wheel_holds_every_file_of_every_package(wheel: Path) -> None:
    inside = set(zipfile.ZipFile(wheel).namelist())
    code = {
        f"{name.replace('.', '/')}/{path.name}" for name, folder in packages().items() for path in folder.glob("*.py")
    }
    folders = {folder.relative_to(ROOT).parts[0] for folder in packages().values() if folder != ROOT}
    data = {
        f"condensery/{path.relative_to(ROOT)}"
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and FIXTURES not in path.parents
    }
    root = {"condensery/py.typed", "condensery/chainlit.md"}
    assert sorted((code | data | root) - inside) == []


def test_the_wheel_holds_none_of_what_is_ours_alone(wheel: Path) -> None:
    folders = {name.split("/")[1] for name in zipfile.ZipFile(wheel).namelist() if name.count("/") > 1}
    assert folders.isdisjoint({"tests", "benchmarks", "docs", "examples", "scripts"})
    assert not [name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("condensery/evals/fixtures/")]
    assert not [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith((".pyc", ".gguf"))]


def test_the_wheel_carries_its_licence_and_the_readme(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    info = next(name for name in archive.namelist() if name.endswith("/METADATA")).removesuffix("METADATA")
    metadata = archive.read(f"{info}METADATA").decode()
    assert "License-Expression: MIT" in metadata
    assert archive.read(f"{info}licenses/LICENSE").decode() == (ROOT / "LICENSE").read_text()
    assert (ROOT / "README.md").read_text().splitlines()[0] in metadata


def test_the_installed_package_is_the_wheel_and_not_the_repository(installed: Installed) -> None:
    code = "import condensery, condensery.workflows.events as events; print(condensery.__file__, events.__file__)"
    for file in installed.evaluate(code).split():
        assert installed.folder in Path(file).parents


def test_the_installed_package_imports_as_a_whole(installed: Installed) -> None:
    modules = [
        f"{name}.{path.stem}".removesuffix(".__init__")
        for name, folder in packages().items()
        for path in folder.glob("*.py")
        if path.name != "env.py"  # run by Alembic, not imported
    ]
    assert len(modules) > 40
    installed.evaluate(f"import importlib\nfor name in {modules!r}: importlib.import_module(name)")


def test_the_installed_package_speaks_every_locale(installed: Installed) -> None:
    code = """
from condensery.prompts.locales import LOCALES
from condensery.prompts.loader import Prompts
print(*(Prompts(locale).text("meta.identity") for locale in LOCALES), sep="\\n")
"""
    assert len(set(installed.evaluate(code).splitlines())) == 4


def test_the_command_is_installed(installed: Installed) -> None:
    help_text = run(installed.folder / "bin" / "condensery", "--help", cwd=installed.folder)
    assert all(command in help_text for command in ("app", "chat", "ingest", "settings"))


def test_the_installed_command_evaluates_a_folder_of_data(installed: Installed, tmp_path: Path) -> None:
    (tmp_path / "passages.jsonl").write_text('{"id": "lamp", "text": "The green lamp is made of brass."}\n')
    turn = '{"id": "1", "kind": "turn", "history": [], "message": "What is the lamp made of?", "relevant": ["lamp"]}\n'
    (tmp_path / "turns.jsonl").write_text(turn)
    program = installed.folder / "bin" / "condensery"
    found = json.loads(run(program, "eval", "turns", tmp_path, "--engine", "simple", "--json", cwd=installed.folder))
    assert found["configurations"][0]["groups"]["all"]["metrics"]["hit@1"] == 1


def test_the_installed_command_asks_for_a_folder_where_the_repository_is_not(installed: Installed) -> None:
    program = installed.folder / "bin" / "condensery"
    done = subprocess.run([program, "eval", "chat"], cwd=installed.folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "give a folder of your own" in done.stderr
