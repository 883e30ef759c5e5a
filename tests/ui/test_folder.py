import json
import os
import tomllib
from pathlib import Path

import pytest

from condensery.errors import ConfigError
from condensery.settings import Settings
from condensery.ui.folder import kept_secret, merged, prepare


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is set here is put back, what is set during the test as well."""
    for name in [name for name in os.environ if name.startswith("CHAINLIT_")]:
        monkeypatch.setenv(name, os.environ[name])
    for name in ("CHAINLIT_APP_ROOT", "CHAINLIT_ENV_FILE", "CHAINLIT_AUTH_SECRET", "CHAINLIT_AUTH_COOKIE_NAME"):
        monkeypatch.setenv(name, os.environ.get(name, ""))


def prepared(tmp_path: Path, **settings: str) -> Path:
    return prepare(Settings.model_validate({"data_dir": tmp_path / "data", **settings}))


def test_everything_lies_in_the_data_directory_and_chainlit_is_told(tmp_path: Path) -> None:
    folder = prepared(tmp_path)
    assert folder.is_relative_to(tmp_path / "data")
    assert os.environ["CHAINLIT_APP_ROOT"] == str(folder)
    assert not Path(os.environ["CHAINLIT_ENV_FILE"]).exists()
    assert {path.name for path in (folder / "public").iterdir()} >= {"theme.json", "style.css", "favicon.svg"}
    assert (folder / "chainlit_en-US.md").read_text().startswith("# Condensery")


def test_the_configuration_is_what_chainlit_reads(tmp_path: Path) -> None:
    config = tomllib.loads((prepared(tmp_path) / ".chainlit" / "config.toml").read_text())
    assert config["UI"]["name"] == "Condensery"
    assert config["features"]["unsafe_allow_html"] is False
    assert config["project"]["allow_origins"] == []


@pytest.mark.parametrize(("locale", "file", "text"), [("de", "de-DE", "Frag"), ("it", "it", "Chieda")])
def test_the_page_speaks_the_language_of_the_settings(tmp_path: Path, locale: str, file: str, text: str) -> None:
    folder = prepared(tmp_path, locale=locale)
    texts = json.loads((folder / ".chainlit" / "translations" / f"{file}.json").read_text())
    assert texts["chat"]["input"]["placeholder"].startswith(text)
    assert texts["common"]["actions"]["cancel"]
    assert (folder / f"chainlit_{file}.md").exists()


def test_settings_of_another_chainlit_app_do_not_reach_this_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHAINLIT_ROOT_PATH", "/elsewhere")
    monkeypatch.setenv("SLACK_BOT_TOKEN", "token")
    prepared(tmp_path)
    assert not {"CHAINLIT_ROOT_PATH", "SLACK_BOT_TOKEN"} & set(os.environ)


def test_the_secret_is_made_once_and_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    first = kept_secret(path)
    assert len(first) >= 32
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o644)
    assert kept_secret(path) == first
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_data_directory_that_cannot_be_written_is_named_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file is in the way")
    with pytest.raises(ConfigError, match=r"cannot write to .*ui: .*CONDENSERY_DATA_DIR"):
        prepared(tmp_path)


def test_texts_are_merged_at_every_depth() -> None:
    assert merged({"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"b": 4}}) == {"a": {"b": 4, "c": 2}, "d": 3}
