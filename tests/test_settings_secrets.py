"""Secrets in settings: covered in listings, errors and dumps, whatever shape they come in."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condensery.errors import ConfigError
from condensery.settings import load_settings
from condensery.settings_mask import MASK, masked
from condensery.settings_report import settings_table


@pytest.fixture(autouse=True)
def in_an_empty_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def problem(**overrides: object) -> str:
    """The message of the one error that loading ends with."""
    with pytest.raises(ConfigError) as caught:
        load_settings(**overrides)
    return str(caught.value)


@pytest.mark.parametrize("url", ["mysql://u:hunter2@h/db", "hunter2", "postgresql://"])
def test_a_database_that_is_not_postgres_is_refused_without_showing_the_url(url: str) -> None:
    message = problem(database_url=url)
    assert "database_url (argument)" in message
    assert "postgresql://user:password@host" in message
    assert "hunter2" not in message


def test_secrets_appear_nowhere_a_person_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONDENSERY_LLM__API_KEY", "sk-secret-key")
    settings = load_settings(
        database_url="postgresql://ada:hunter2@db.example:5432/docs?sslpassword=tops3cret",
        llm={"model": "openai:https://bob:hunter2@models.example/v1?key=tops3cret#m"},
    )
    for text in (settings_table(settings), repr(settings), str(settings), settings.model_dump_json()):
        assert "sk-secret-key" not in text
    table = settings_table(settings)
    assert "hunter2" not in table
    assert "tops3cret" not in table
    assert "postgresql://ada:***@db.example:5432/docs?***" in table
    assert "openai:https://bob:***@models.example/v1?***" in table
    assert MASK in table


def test_a_rejected_secret_is_not_shown() -> None:
    assert "hunter2" not in problem(llm={"api_key": ["hunter2"]}, database_url=["hunter2"])


def test_a_secret_under_a_misspelled_name_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / "condensery.toml").write_text('[llm]\napi_kye = "sk-secret"\n')
    assert "sk-secret" not in problem()


@given(st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=6), st.sampled_from(["", ":5432"]))
def test_no_password_survives_masking_however_it_is_quoted(password: str, port: str) -> None:
    url = f"postgresql://ada:<{password}>@db{port}/docs"
    assert f"{password}>" not in masked(url)


@given(st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=6))
def test_no_password_in_the_query_survives_masking(password: str) -> None:
    assert f"{password}>" not in masked(f"postgresql://db:5432/docs?password=<{password}>")
