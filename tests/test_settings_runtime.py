"""Settings changed at run time: which can be, what a change must keep to, and what becomes of stored ones."""

from pathlib import Path
from typing import Any

import pytest

from condensery.errors import ConfigError
from condensery.settings import Llm, Settings, load_settings
from condensery.settings_load import leaves
from condensery.settings_report import run_time_table
from condensery.settings_runtime import (
    CHANGEABLE,
    UNDECLARED,
    WHY_FIXED,
    applied,
    changeable,
    checked,
    checked_reset,
    why_fixed,
)


@pytest.fixture(autouse=True)
def in_an_empty_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def refusal(changes: dict[str, Any], *, stored: dict[str, Any] | None = None, base: Settings | None = None) -> str:
    """The message of the error that a change ends with."""
    with pytest.raises(ConfigError) as caught:
        checked(base or Settings(), stored or {}, changes)
    return str(caught.value)


def test_every_setting_can_be_changed_or_says_why_not() -> None:
    names = [name for name, _ in leaves(Settings)]
    assert [name for name in names if why_fixed(name) == UNDECLARED] == []
    sections = {name.partition(".")[0] for name in names} | set(names)
    assert sections.issuperset(CHANGEABLE)
    assert sections.issuperset(WHY_FIXED)


def test_what_every_turn_reads_can_be_changed_and_what_is_opened_at_start_cannot() -> None:
    free = set(changeable())
    assert free.issuperset(
        {
            *(f"retrieval.{name}" for name in ("method", "top_k", "candidates", "rrf_k", "min_similarity")),
            *(f"retrieval.{arm}_weight" for arm in ("semantic", "bm25")),
            *(f"condense.{name}" for name in ("enabled", "engine", "history_turns", "seconds")),
            *("hyde.enabled", "hyde.base", "rerank.enabled", "rerank.candidates", "rerank.top_n"),
            *("answer.mode", "answer.max_quotes", "gate.enabled", "history.max_turns", "limits.turn_seconds"),
        }
    )
    assert free.isdisjoint({"data_dir", "database_url", "locale", "llm.model", "embeddings.model", "app.port"})
    assert not any(name.endswith(("model", "api_key", "prefix")) for name in free)


def test_the_table_shows_the_changeable_with_their_values_and_the_others_with_the_reason() -> None:
    table = run_time_table(load_settings(retrieval={"top_k": 7}))
    free, _, fixed = table.partition("\n\n")
    assert any(line.split()[:2] == ["retrieval.top_k", "7"] for line in free.splitlines())
    assert any(line.split()[:1] == ["data_dir"] and "which database" in line for line in fixed.splitlines())


def test_a_stored_value_stands_over_environment_and_file_and_under_an_argument(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "condensery.toml").write_text("[retrieval]\nrrf_k = 30\n")
    monkeypatch.setenv("CONDENSERY_RETRIEVAL__TOP_K", "6")
    stored = {"retrieval.top_k": 8, "retrieval.rrf_k": 40, "answer.max_quotes": 2}
    settings, ignored = applied(load_settings(answer={"max_quotes": 4}), stored)
    assert (settings.retrieval.top_k, settings.retrieval.rrf_k, settings.answer.max_quotes) == (8, 40, 4)
    assert settings.sources["retrieval.top_k"] == settings.sources["retrieval.rrf_k"] == "database"
    assert settings.sources["answer.max_quotes"] == "argument"
    assert ignored == []


@pytest.mark.parametrize(
    "base",
    [
        Settings.model_validate({"retrieval": {"top_k": 4}}),
        Settings().model_copy(update={"retrieval": Settings().retrieval.model_copy(update={"top_k": 4})}),
    ],
)
def test_what_a_program_makes_its_settings_with_is_an_argument(base: Settings) -> None:
    settings, _ = applied(base, {"retrieval.top_k": 8, "retrieval.rrf_k": 40})
    assert (settings.retrieval.top_k, settings.retrieval.rrf_k) == (4, 40)


def test_secrets_and_defaults_come_through_a_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONDENSERY_LLM__API_KEY", "sk-1")
    base = load_settings(llm=Llm(model="none"))
    settings, _ = applied(base, {"retrieval.top_k": 8})
    assert settings.model_dump(exclude={"retrieval"}) == base.model_dump(exclude={"retrieval"})
    assert settings.llm.api_key is not None
    assert "locale" not in settings.sources


@pytest.mark.parametrize(
    ("stored", "told"),
    [
        ({"retrieval.top_kk": 3}, "retrieval.top_kk (database): no such setting"),
        ({"llm.model": "none"}, "llm.model (database): cannot be changed while Condensery runs"),
        ({"retrieval.top_k": 0}, "retrieval.top_k (database): got 0; must be greater than or equal to 1"),
        ({"retrieval.method": "of an older version"}, "retrieval.method (database): got 'of an older version'"),
        ({"retrieval.top_k": 50}, "retrieval.candidates must be at least retrieval.top_k"),
    ],
)
def test_a_stored_value_that_no_longer_works_is_passed_over_and_the_others_stand(
    stored: dict[str, Any], told: str
) -> None:
    settings, ignored = applied(Settings(), stored | {"answer.max_quotes": 2})
    assert settings.model_dump() == Settings.model_validate({"answer": {"max_quotes": 2}}).model_dump()
    assert len(ignored) == 1
    assert told in ignored[0]


def test_values_from_a_command_line_are_stored_as_what_they_mean() -> None:
    changes = {"retrieval.top_k": "8", "gate.enabled": "off", "answer.mode": "extractive", "condense.seconds": "2.5"}
    assert checked(Settings(), {}, changes).values == {
        "retrieval.top_k": 8,
        "gate.enabled": False,
        "answer.mode": "extractive",
        "condense.seconds": 2.5,
    }


def test_a_blank_value_means_not_set_where_there_may_be_none() -> None:
    assert checked(Settings(), {}, {"rerank.top_n": ""}).values == {"rerank.top_n": None}
    assert "retrieval.top_k (new value): got ''; must be a valid integer" in refusal({"retrieval.top_k": ""})


def test_a_section_may_be_given_as_a_dict() -> None:
    assert checked(Settings(), {}, {"retrieval": {"top_k": 8}}).values == {"retrieval.top_k": 8}


def test_a_change_is_refused_with_every_reason() -> None:
    message = refusal({"retrieval.topk": 3, "data_dir": "x", "llm.model": "none", "retrieval.rrf_k": 0})
    assert message.startswith("nothing was changed:\n")
    assert "retrieval.topk (new value): no such setting; did you mean retrieval.top_k" in message
    assert "data_dir (new value): cannot be changed while Condensery runs: it decides which database" in message
    assert "llm.model (new value): cannot be changed while Condensery runs: the model is opened" in message
    assert "retrieval.rrf_k (new value): got 0; must be greater than or equal to 1" in message


def test_changes_that_only_work_together_are_taken_together() -> None:
    rule = "retrieval.candidates must be at least retrieval.top_k"
    assert rule in refusal({"retrieval.top_k": 40})
    changes = checked(Settings(), {}, {"retrieval.top_k": 40, "retrieval.candidates": 80})
    assert changes.values == {"retrieval.top_k": 40, "retrieval.candidates": 80}
    assert checked(Settings(), {"retrieval.candidates": 80}, {"retrieval.top_k": 40}).values == {"retrieval.top_k": 40}
    assert rule in refusal({"retrieval.candidates": 30}, stored=changes.values)


def test_a_change_is_checked_against_what_this_process_was_started_with() -> None:
    base = load_settings(llm={"model": "none"})
    assert "answer.mode = generated needs a model" in refusal({"answer.mode": "generated"}, base=base)


def test_a_stored_value_that_no_longer_works_is_in_nobodys_way() -> None:
    assert checked(Settings(), {"answer.max_quotes": 0}, {"retrieval.top_k": 8}).values == {"retrieval.top_k": 8}


def test_a_reset_is_refused_when_the_rest_needs_the_value() -> None:
    stored = {"retrieval.top_k": 40, "retrieval.candidates": 80}
    with pytest.raises(ConfigError, match=r"retrieval\.candidates must be at least retrieval\.top_k"):
        checked_reset(Settings(), stored, ["retrieval.candidates"])
    assert checked_reset(Settings(), stored, list(stored)).unset == set(stored)


def test_a_reset_takes_what_an_older_version_stored_and_refuses_what_nobody_knows() -> None:
    assert checked_reset(Settings(), {"old.name": 1}, ["old.name"]).unset == {"old.name"}
    with pytest.raises(
        ConfigError, match=r"retrieval\.topk \(to unset\): no such setting; did you mean retrieval\.top_k"
    ):
        checked_reset(Settings(), {}, ["retrieval.topk"])
