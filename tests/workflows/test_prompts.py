import os
import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest

from condensery.errors import ConfigError
from condensery.prompts.loader import VARIABLES, Prompts
from condensery.prompts.locales import LOCALES
from condensery.settings import load_settings

FOLDER = Path(str(resources.files("condensery.prompts")))


@pytest.mark.parametrize("locale", LOCALES)
def test_every_locale_has_every_template_with_its_variables(locale: str) -> None:
    prompts = Prompts(locale)
    for name, variables in VARIABLES.items():
        filled = prompts.render(name, **{variable: f"<{variable}>" for variable in variables})
        assert all(f"<{variable}>" in filled for variable in variables)
        assert "{{" not in filled


def test_braces_in_what_is_put_in_stay_as_they_are() -> None:
    odd = '{"a": 1} {question} {{message}} {0} %s $x \\1'
    filled = Prompts("en").render("answer", evidence=odd, message=odd)
    assert filled.count(odd) == 2


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda root: (root / "en/condense.md").write_text("no variable"), r"condense.md uses \[\]"),
        (lambda root: (root / "en/answer.md").write_text("{{evidence}} {{messsage}}"), "messsage"),
        (lambda root: (root / "en/system.md").unlink(), "has no system.md"),
        (lambda root: (root / "en/messages.toml").write_text("[ui]\nsources = 'S'"), "lacks .*meta.capabilities"),
    ],
)
def test_a_wrong_template_fails_when_it_is_loaded(change, complaint: str, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    shutil.copytree(FOLDER / "en", tmp_path / "en")
    change(tmp_path)
    with pytest.raises(ConfigError, match=complaint):
        Prompts("en", tmp_path)


def test_a_missing_or_unknown_variable_is_an_error() -> None:
    with pytest.raises(ConfigError, match="takes"):
        Prompts("en").render("condense")
    with pytest.raises(ConfigError, match="takes"):
        Prompts("en").render("system", question="x")


WITH_SPANISH = """
from condensery.memory.self_stated import self_stated
from condensery.prompts.loader import prompts_for
from condensery.settings import load_settings
from condensery.workflows.languages import spoken
from condensery.workflows.phrases import all_phrases, gated
print(load_settings(locale="es").locale, prompts_for("es").text("ui.sources"), gated("hola", all_phrases(), "en"),
      spoken("¿Cuánto cuesta el billete de ida y vuelta?"), [fact.text for fact in self_stated("I live in Oslo.")])
"""


def test_a_locale_is_added_by_adding_its_folder(tmp_path: Path) -> None:
    package = tmp_path / "condensery"
    package.mkdir()
    for entry in FOLDER.parent.iterdir():
        if entry.name not in ("prompts", ".typing", ".git"):
            (package / entry.name).symlink_to(entry)
    shutil.copytree(FOLDER, package / "prompts")
    spanish = shutil.copytree(FOLDER / "en", package / "prompts" / "es")
    gate = (spanish / "gate.toml").read_text(encoding="utf-8")
    (spanish / "gate.toml").write_text(gate.replace('"hello"', '"hola"'), encoding="utf-8")
    facts = (spanish / "facts.toml").read_text(encoding="utf-8")
    (spanish / "facts.toml").write_text(
        facts.replace("everyday = '''", "everyday = '''cuánto|cuesta|el|de|y|"), encoding="utf-8"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    found = subprocess.run(
        [sys.executable, "-c", WITH_SPANISH], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    sources = Prompts("en").text("ui.sources")
    greeting = "Gated(kind='greeting', locale='es')"
    assert found.stdout.strip() == f"es {sources} {greeting} es ['I live in Oslo.']"


def test_a_locale_without_a_folder_is_refused_with_the_choices() -> None:
    with pytest.raises(ConfigError, match=r"locale .*got 'xx'; must be one of de, en, fr, it"):
        load_settings(locale="xx")
