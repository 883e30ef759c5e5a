import shutil
from importlib import resources
from pathlib import Path

import pytest

from condensery.errors import ConfigError
from condensery.prompts.loader import LOCALES, VARIABLES, Prompts

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
