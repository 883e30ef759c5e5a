"""Settings: precedence, one readable error for every fault, and where each value came from."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest

from condensery.errors import ConfigError
from condensery.retrieval.methods import METHODS
from condensery.retrieval.plans import BASES, METHOD_NAMES, SHORT_NAMES
from condensery.settings import EngineName, Llm, MethodName, Settings, load_settings
from condensery.settings_load import ENV_PREFIX, leaves, variable
from condensery.settings_report import effective
from condensery.workflows.engines.table import ENGINES

WriteToml = Callable[[str], Path]


@pytest.fixture(autouse=True)
def in_an_empty_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def toml(tmp_path: Path) -> WriteToml:
    """Write `condensery.toml` into the working directory."""

    def write(text: str) -> Path:
        path = tmp_path / "condensery.toml"
        path.write_text(text)
        return path

    return write


def problem(**overrides: object) -> str:
    """The message of the one error that loading ends with."""
    with pytest.raises(ConfigError) as caught:
        load_settings(**overrides)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None, "a chained error shows raw input"
    return str(caught.value)


def source_of(settings: Settings, name: str) -> str:
    return next(row.source for row in effective(settings) if row.name == name)


def test_without_anything_set_loading_gives_the_defaults() -> None:
    assert load_settings() == Settings()


def test_a_toml_file_beats_the_defaults(toml: WriteToml) -> None:
    toml('locale = "de"\n[retrieval]\ntop_k = 7\n')
    settings = load_settings()
    assert (settings.locale, settings.retrieval.top_k) == ("de", 7)
    assert source_of(settings, "retrieval.top_k") == "condensery.toml"


def test_the_environment_beats_the_toml_file(toml: WriteToml, monkeypatch: pytest.MonkeyPatch) -> None:
    toml("[retrieval]\ntop_k = 7\nrrf_k = 30\n")
    monkeypatch.setenv("CONDENSERY_RETRIEVAL__TOP_K", "8")
    settings = load_settings()
    assert (settings.retrieval.top_k, settings.retrieval.rrf_k) == (8, 30)
    assert source_of(settings, "retrieval.top_k") == "environment variable CONDENSERY_RETRIEVAL__TOP_K"


def test_arguments_beat_the_environment_field_by_field(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONDENSERY_RETRIEVAL__TOP_K", "8")
    monkeypatch.setenv("CONDENSERY_RETRIEVAL__RRF_K", "30")
    settings = load_settings(retrieval={"top_k": 9})
    assert (settings.retrieval.top_k, settings.retrieval.rrf_k) == (9, 30)
    assert source_of(settings, "retrieval.top_k") == "argument"


def test_an_argument_may_be_named_by_its_path() -> None:
    settings = load_settings(**{"retrieval.top_k": 9, "locale": "de"})
    assert (settings.retrieval.top_k, settings.locale) == (9, "de")


def test_a_section_as_an_argument_sets_only_what_it_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONDENSERY_LLM__API_KEY", "sk-from-environment")
    settings = load_settings(llm=Llm(model="none"))
    assert settings.llm.model == "none"
    assert settings.llm.api_key is not None


def test_an_argument_of_none_clears_what_the_environment_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONDENSERY_DATABASE_URL", "postgresql://u:pw@host/db")
    assert load_settings(database_url=None).database_url is None


def test_a_named_file_is_read_instead_of_the_one_in_the_working_directory(
    toml: WriteToml, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toml('locale = "de"')
    other = tmp_path / "other.toml"
    other.write_text('locale = "fr"')
    monkeypatch.setenv("CONDENSERY_CONFIG", str(other))
    settings = load_settings()
    assert settings.locale == "fr"
    assert source_of(settings, "locale") == str(other)


def test_every_setting_can_be_set_through_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    defaults = Settings()
    for name, _ in leaves(Settings):
        value = defaults
        for part in name.split("."):
            value = getattr(value, part)
        monkeypatch.setenv(variable(name), "" if value is None else str(value))
    assert load_settings().model_dump() == defaults.model_dump()


@pytest.mark.parametrize("blank", ["", "  "])
def test_a_blank_variable_leaves_an_optional_setting_unset(blank: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONDENSERY_DATABASE_URL", blank)
    monkeypatch.setenv("CONDENSERY_LLM__API_KEY", blank)
    settings = load_settings()
    assert settings.database_url is None
    assert settings.llm.api_key is None


@pytest.mark.parametrize(
    ("name", "value", "demand"),
    [
        ("RETRIEVAL__TOP_K", "0", "must be greater than or equal to 1"),
        ("RETRIEVAL__TOP_K", "many", "must be a valid integer"),
        ("RETRIEVAL__TOP_K", "", "must be a valid integer"),
        ("RETRIEVAL__METHOD", "hybird", "must be 'semantic', 'bm25', 'hybrid', 'hyde'"),
        ("CONDENSE__ENGINE", "condens", "must be 'simple', 'condense_context', 'expand_context' or 'fuse_context'"),
        ("LOCALE", "es", "must be one of de, en, fr, it"),
        ("INGEST__NAMESPACE", "a b", "must match pattern"),
        ("CONDENSE__SECONDS", "inf", "must be a finite number"),
        ("CONDENSE__SECONDS", "nan", "must be a finite number"),
        ("CONDENSE__ENABLED", "maybe", "must be a valid boolean"),
        ("LLM__MODEL", "", "must have at least 1 character"),
        ("DATA_DIR", "", "must not be blank"),
        ("DATA_DIR", "~no-such-user-here/x", "home directory that does not exist"),
    ],
)
def test_a_bad_variable_is_named_with_what_it_got_and_what_is_allowed(
    name: str, value: str, demand: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ENV_PREFIX + name, value)
    message = problem()
    setting = name.lower().replace("__", ".")
    assert f"{setting} (environment variable CONDENSERY_{name}): got {value!r}; " in message
    assert demand in message


def test_a_bad_value_in_the_file_is_traced_to_the_file(toml: WriteToml) -> None:
    toml("[app]\nport = 70000\n")
    assert "app.port (condensery.toml): got 70000; must be less than or equal to 65535" in problem()


def test_a_bad_argument_is_traced_to_the_argument() -> None:
    assert "app.port (argument): got 0; must be greater than or equal to 1" in problem(app={"port": 0})


def test_all_faults_of_all_sources_are_told_at_once(toml: WriteToml, monkeypatch: pytest.MonkeyPatch) -> None:
    toml("[retrieval]\ntop_kk = 3\n")
    monkeypatch.setenv("CONDENSERY_LOCALE", "es")
    message = problem(app={"port": 0})
    assert all(name in message for name in ("retrieval.top_kk", "CONDENSERY_LOCALE", "app.port"))
    assert "validation error" not in message


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("CONDENSERY_LLM__MODLE", "CONDENSERY_LLM__MODEL"),
        ("CONDENSERY_LLM_MODEL", "CONDENSERY_LLM__MODEL"),
        ("CONDENSERY_LLM__MODEL__NAME", "CONDENSERY_LLM__MODEL"),
        ("CONDENSERY_DATADIR", "CONDENSERY_DATA_DIR"),
        ("CONDENSERY_CONFGI", "CONDENSERY_CONFIG"),
        ("condensery_locale", "CONDENSERY_LOCALE"),
    ],
)
def test_an_unknown_variable_is_refused_with_the_nearest_names(
    name: str, near: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "sk-secret")
    message = problem()
    assert f"{name} (environment): no such setting" in message
    assert near in message
    assert "sk-secret" not in message


def test_a_variable_like_no_other_is_refused_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONDENSERY_QQQQQQ", "1")
    assert "`condensery settings` lists" in problem()


def test_variables_that_are_no_settings_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONDENSERY_REQUIRE_BROWSER", "1")
    assert load_settings() == Settings()


def test_an_unknown_argument_is_refused_with_the_nearest_names() -> None:
    assert "retrieval.topk (argument): no such setting; did you mean retrieval.top_k" in problem(retrieval={"topk": 3})


def test_a_value_in_place_of_a_section_is_refused_without_being_shown(toml: WriteToml) -> None:
    toml('llm = "sk-secret"')
    message = problem()
    assert "llm (condensery.toml): is a section of settings, got a str" in message
    assert "sk-secret" not in message


@pytest.mark.parametrize("text", ["a = ", "[llm\n", "\n\nlocale = 'en'\nlocale = 'de'\n"])
def test_broken_toml_is_an_error_with_the_line(text: str, toml: WriteToml) -> None:
    toml(text)
    message = problem()
    assert "condensery.toml is not valid TOML" in message
    assert "line" in message or "end of document" in message


def test_a_file_that_is_not_text_is_an_error(toml: WriteToml, tmp_path: Path) -> None:
    toml("")
    (tmp_path / "condensery.toml").write_bytes(b"locale = '\xff'")
    assert "not UTF-8" in problem()


def test_a_named_file_that_is_missing_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONDENSERY_CONFIG", "nowhere.toml")
    message = problem()
    assert "nowhere.toml" in message
    assert "CONDENSERY_CONFIG names it" in message


@pytest.mark.parametrize(
    ("overrides", "reason"),
    [
        ({"ingest": {"chunk_chars": 200, "overlap_chars": 150}}, "ingest.overlap_chars must be at most half"),
        ({"retrieval": {"top_k": 50, "candidates": 10}}, "retrieval.candidates must be at least retrieval.top_k"),
        ({"retrieval": {"semantic_weight": 0, "bm25_weight": 0}}, "hybrid would rank nothing"),
        ({"llm": {"context_window": 512, "max_output_tokens": 512}}, "no room is left for the prompt"),
        ({"llm": {"context_window": 530}, "answer": {"mode": "generated"}}, "under 32 tokens for the prompt"),
        ({"llm": {"model": "none"}, "answer": {"mode": "generated"}}, "answer.mode = generated needs a model"),
        ({"llm": {"model": "none"}, "condense": {"engine": "condense_context"}}, "condense_context needs a model"),
        (
            {
                "llm": {"context_window": 512, "max_output_tokens": 64},
                "condense": {"engine": "condense_context", "max_output_tokens": 512},
            },
            "condense.max_output_tokens must be smaller than llm.context_window",
        ),
    ],
)
def test_settings_that_cannot_work_together_are_refused_with_the_reason(
    overrides: dict[str, dict[str, object]], reason: str
) -> None:
    assert reason in problem(**overrides)


def test_a_broken_combination_says_where_its_values_came_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONDENSERY_LLM__MODEL", "none")
    message = problem(answer={"mode": "generated"})
    assert "llm.model = 'none' (environment variable CONDENSERY_LLM__MODEL)" in message
    assert "answer.mode = 'generated' (argument)" in message


def test_a_switched_off_stage_needs_no_model() -> None:
    settings = load_settings(llm={"model": "none"}, condense={"engine": "condense_context", "enabled": False})
    assert not settings.condense.enabled


def test_a_rewrite_of_any_length_is_fine_for_an_engine_without_a_model() -> None:
    settings = load_settings(llm={"context_window": 512, "max_output_tokens": 64}, condense={"max_output_tokens": 512})
    assert settings.condense.max_output_tokens == settings.llm.context_window


def test_the_names_that_settings_accept_are_those_of_the_tables() -> None:
    assert sorted(get_args(MethodName)) == sorted({*METHOD_NAMES, *SHORT_NAMES})
    assert sorted(BASES) == sorted(METHODS)
    assert sorted(get_args(EngineName)) == sorted(ENGINES)


def test_loading_settings_loads_no_library_of_models_or_databases(tmp_path: Path) -> None:
    heavy = ("llama_index", "sqlalchemy", "torch", "transformers", "asyncpg")
    code = f"import sys, condensery.settings; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.strip() == "[]"


def test_a_path_of_the_home_directory_is_resolved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert load_settings(data_dir="~/data").data_dir == tmp_path / "data"
