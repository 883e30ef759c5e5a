"""What people read about settings: the table of `condensery settings`, and the guide."""

from pathlib import Path

import pytest

from condensery.errors import ConfigError
from condensery.settings import Settings, load_settings
from condensery.settings_load import leaves
from condensery.settings_report import settings_reference, settings_table
from condensery.settings_runtime import checked

GUIDE = Path(__file__).parent.parent / "docs" / "guides" / "settings.md"


def test_the_table_lists_every_setting_with_its_source() -> None:
    lines = settings_table(load_settings(locale="it")).splitlines()
    assert len(lines) == len(list(leaves(Settings)))
    assert any(line.split() == ["locale", "it", "argument"] for line in lines)
    assert any(line.split() == ["database_url", "(not", "set)", "default"] for line in lines)


def test_the_reference_describes_every_setting() -> None:
    rows = settings_reference().splitlines()[2:]
    assert len(rows) == len(list(leaves(Settings)))
    undescribed = [row for row in rows if " |  | " in row]
    assert undescribed == []


def test_the_guide_ends_with_the_reference() -> None:
    assert GUIDE.read_text().endswith(f"\n\n{settings_reference()}\n"), "run 'make settings-doc'"


def test_the_guide_shows_the_error_that_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "condensery.toml").write_text("[retrieval]\ntop_kk = 3\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CONDENSERY_LOCALE", "es")
    with pytest.raises(ConfigError) as caught:
        load_settings()
    assert f"error: {caught.value}\n" in GUIDE.read_text()


def test_the_guide_shows_the_refusal_of_a_change() -> None:
    with pytest.raises(ConfigError) as caught:
        checked(Settings(), {}, {"retrieval.top_k": "40"})
    assert f"error: {caught.value}\n" in GUIDE.read_text()


def test_the_guide_says_of_every_setting_whether_it_can_be_changed_at_run_time() -> None:
    rows = [row.split(" | ") for row in settings_reference().splitlines()[2:]]
    told = {row[0].strip("| `"): row[-1].removesuffix(" |") for row in rows}
    assert (told["retrieval.top_k"], told["data_dir"]) == ("yes", "no: it decides which database is opened")
