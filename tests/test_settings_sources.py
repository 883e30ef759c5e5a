"""Settings: what the sources of pydantic-settings are let see, and what they are not."""

from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic_settings import BaseSettings

from condensery.errors import ConfigError
from condensery.settings import App, Settings, load_settings

WriteToml = Callable[[str], None]


@pytest.fixture(autouse=True)
def in_an_empty_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def toml(tmp_path: Path) -> WriteToml:
    """Write `condensery.toml` into the working directory."""

    def write(text: str) -> None:
        (tmp_path / "condensery.toml").write_text(text)

    return write


def problem() -> str:
    """The message of the one error that loading ends with."""
    with pytest.raises(ConfigError) as caught:
        load_settings()
    return str(caught.value)


def test_the_tree_is_one_of_pydantic_settings() -> None:
    assert issubclass(Settings, BaseSettings)
    assert Settings.model_config.get("env_prefix") == "CONDENSERY_"
    assert Settings.model_config.get("env_nested_delimiter") == "__"


def test_settings_made_directly_take_arguments_over_defaults_and_nothing_else(
    toml: WriteToml, monkeypatch: pytest.MonkeyPatch
) -> None:
    toml("[retrieval]\ntop_k = 7\n")
    monkeypatch.setenv("CONDENSERY_LOCALE", "fr")
    for settings in (Settings(app=App(port=9000)), Settings.model_validate({"app": {"port": 9000}})):
        assert (settings.locale, settings.retrieval.top_k, settings.app.port) == ("en", 5, 9000)


@pytest.mark.parametrize("value", ['{"api_key": "sk-secret"}', "sk-secret"])
def test_a_variable_for_a_whole_section_is_refused_without_being_shown(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONDENSERY_LLM", value)
    monkeypatch.setenv("CONDENSERY_LLM__THREADS", "-1")
    message = problem()
    assert "CONDENSERY_LLM (environment): no such setting" in message
    assert "llm.threads (environment variable CONDENSERY_LLM__THREADS)" in message
    assert "sk-secret" not in message


def test_a_folder_named_as_the_file_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONDENSERY_CONFIG", str(tmp_path))
    assert f"cannot read the settings file {tmp_path}: it is not a regular file" in problem()


def test_names_in_the_file_are_exact(toml: WriteToml) -> None:
    toml('Locale = "de"\n')
    assert "Locale (condensery.toml): no such setting; did you mean locale?" in problem()
