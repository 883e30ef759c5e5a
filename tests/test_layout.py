"""The shape of the repository: the root is the package, and `workflows` stays the name of the installed one."""

import ast
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
NOT_PACKAGED = {"tests", "benchmarks", "examples", "docs", "scripts", "build", "dist"}
LONGEST_FILE = 300

# In pieces, so that this file does not name them either.
FORBIDDEN = [
    *(".".join(parts) for parts in (("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("npmjs", "com"))),
    *(".".join(parts) for parts in (("download", "pytorch", "org"), ("deb", "debian", "org"), ("golang", "org"))),
    *("/" + "/".join(parts) for parts in (("work", "main"), ("work", "shared"), ("tmp", "venv"), ("opt", "pypi"))),
    *("/" + "/".join(parts) for parts in (("opt", "wheels"), ("root", ""))),
]


def ours(pattern: str) -> list[Path]:
    """Files of the repository, without what tools leave behind."""
    found = []
    for folder, folders, files in os.walk(ROOT):
        inner = Path(folder)
        folders[:] = [name for name in folders if is_ours(inner / name)]
        found += [inner / name for name in files if Path(name).match(pattern)]
    return sorted(found)


def is_ours(folder: Path) -> bool:
    tool_made = folder.name in ("__pycache__", "build", "dist") or folder.name.endswith(".egg-info")
    hidden = folder.name.startswith(".") and folder.name != ".ci"
    return not (tool_made or hidden or folder.is_symlink() or (folder / "pyvenv.cfg").exists())


def run(code: str, cwd: Path) -> str:
    """What Python prints that is started in `cwd`, which is first on its path."""
    done = subprocess.run([sys.executable, "-c", code], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def imported(tree: ast.AST) -> Iterator[str]:
    """The modules a file imports by absolute name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield node.module


def declared_requirements() -> list[Requirement]:
    """What pyproject.toml asks for, with every extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    return [Requirement(line) for line in (*project["dependencies"], *(line for extra in extras for line in extra))]


def test_workflows_has_no_init_file() -> None:
    assert (ROOT / "workflows" / "events.py").exists()
    assert not (ROOT / "workflows" / "__init__.py").exists()


@pytest.mark.parametrize("inside", [True, False], ids=["in the root", "elsewhere"])
def test_workflows_is_the_installed_package_and_ours_is_condensery_workflows(inside: bool, tmp_path: Path) -> None:
    code = """
import workflows, llama_index.core.workflow, condensery.workflows.events as events
print(workflows.__file__, workflows.Workflow is llama_index.core.workflow.Workflow, events.__file__)
"""
    theirs, same, events = run(code, ROOT if inside else tmp_path).split()
    assert ROOT / "workflows" not in Path(theirs).parents
    assert same == "True"
    assert Path(events) == ROOT / "workflows" / "events.py"


def test_no_name_in_the_root_hides_an_installed_module(tmp_path: Path) -> None:
    names = [path.stem for path in ROOT.glob("*.py")] + [path.parent.name for path in ROOT.glob("*/__init__.py")]
    code = f"from importlib.util import find_spec\nprint([n for n in {names!r} if n != '__init__' and find_spec(n)])"
    assert run(code, tmp_path) == "[]"


def test_our_code_imports_the_engine_only_through_llama_index() -> None:
    offenders = [
        f"{path.relative_to(ROOT)}: {module}"
        for path in ours("*.py")
        for module in imported(ast.parse(path.read_text()))
        if module.partition(".")[0] == "workflows"
    ]
    assert offenders == []


def test_pyproject_lists_exactly_the_folders_that_hold_code() -> None:
    folders = {path.parent.relative_to(ROOT) for path in ours("*.py")}
    expected = {".".join(("condensery", *folder.parts)) for folder in folders if not NOT_PACKAGED & {*folder.parts[:1]}}
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    assert sorted(expected - set(listed)) == [], "packages that pyproject.toml lacks"
    assert sorted(set(listed) - expected) == [], "packages of pyproject.toml that hold no code"


def test_the_root_holds_no_module_that_is_not_product_code() -> None:
    assert not [path.name for path in ROOT.glob("*.py") if path.stem in ("setup", "conftest", "noxfile")]


def test_no_file_names_a_package_registry_or_a_path_of_one_machine() -> None:
    offenders = [
        f"{path.relative_to(ROOT)}: {word}"
        for path in ours("*")
        for word in FORBIDDEN
        if word in path.read_text(errors="ignore")
    ]
    assert offenders == []


def test_no_python_file_outgrows_its_reader() -> None:
    lengths = {path.relative_to(ROOT): len(path.read_text().splitlines()) for path in ours("*.py")}
    assert {path: length for path, length in lengths.items() if length > LONGEST_FILE} == {}


def test_type_checkers_find_the_package_through_one_link() -> None:
    link = ROOT / ".typing" / "condensery"
    assert link.is_symlink()
    assert link.readlink() == Path("..")


def test_constraints_pin_exact_versions_from_no_particular_place() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = [line.partition(";")[0].strip() for line in lines if not line.startswith("#")]
    names = [pin.partition("==")[0] for pin in pins]
    assert names == sorted(set(names))
    assert "torch==2.13.0" in pins
    assert [pin for pin in pins if pin.count("==") != 1 or "/" in pin or "+" in pin] == []


def test_every_dependency_is_pinned_within_its_range() -> None:
    pins = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text().splitlines() if line[0] != "#")
    offenders = [
        f"{requirement} is pinned to {pins.get(canonicalize_name(requirement.name))}"
        for requirement in declared_requirements()
        if not requirement.specifier.contains(pins.get(canonicalize_name(requirement.name), "0"))
    ]
    assert offenders == []


def test_what_the_product_imports_is_declared_and_not_only_there_by_chance() -> None:
    declared = {canonicalize_name(requirement.name) for requirement in declared_requirements()}
    distributions = packages_distributions()
    undeclared = {
        f"{path.relative_to(ROOT)}: {module}"
        for path in ours("*.py")
        for module in {name.partition(".")[0] for name in imported(ast.parse(path.read_text()))}
        if path.relative_to(ROOT).parts[0] not in NOT_PACKAGED
        and module not in sys.stdlib_module_names | {"condensery"}
        and declared.isdisjoint(map(canonicalize_name, distributions.get(module, ())))
    }
    assert sorted(undeclared) == []


@pytest.mark.parametrize("path", [".ci/run", "scripts/setup", "scripts/pick-python", "scripts/run"])
def test_scripts_can_be_run(path: str) -> None:
    assert os.access(ROOT / path, os.X_OK)
