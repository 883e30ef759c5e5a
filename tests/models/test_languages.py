"""Which embedding models know English only, by their cards and their names, and who is told."""

from pathlib import Path

import pytest

from condensery.models.languages import english_only, knows_english_only, language_notice, languages_of
from condensery.prompts.locales import LOCALES
from condensery.settings import BUNDLED_EMBEDDINGS, Embeddings, Settings, load_settings

NOWHERE = Path("/no/such/folder")


def card(folder: Path, front: str) -> Path:
    (folder / "README.md").write_text(f"---\n{front}\n---\n# A model\nlanguage: xx\n", encoding="utf-8")
    return folder


def test_the_bundled_model_knows_english_only() -> None:
    assert english_only(Embeddings())


@pytest.mark.parametrize(
    ("front", "languages"),
    [
        ("language: en\nlicense: mit", {"en"}),
        ("language:\n- en\n- fr\nlicense: mit", {"en", "fr"}),
        ("language: [en, de]", {"en", "de"}),
        ("tags:\n- x\nlanguage:\n  - multilingual", {"multilingual"}),
        ("license: mit", set()),
    ],
)
def test_a_card_tells_the_languages(front: str, languages: set[str], tmp_path: Path) -> None:
    assert languages_of(card(tmp_path, front)) == languages


def test_a_card_counts_more_than_a_name(tmp_path: Path) -> None:
    assert not knows_english_only(card(tmp_path, "language:\n- en\n- fr"), "all-MiniLM-L6-v2")
    assert knows_english_only(card(tmp_path, "language: en"), "my-multilingual-model")


@pytest.mark.parametrize(
    "name",
    ["sentence-transformers/all-MiniLM-L12-v2", "BAAI/bge-small-en-v1.5", "intfloat/e5-base-v2", "thenlper/gte-base",
     "nomic-ai/nomic-embed-text-v1.5", "jinaai/jina-embeddings-v2-base-en", "Snowflake/snowflake-arctic-embed-m"],
)  # fmt: skip
def test_without_a_card_families_made_for_english_are_known(name: str) -> None:
    assert knows_english_only(NOWHERE, name)


@pytest.mark.parametrize(
    "name",
    ["intfloat/multilingual-e5-small", "BAAI/bge-m3", "nomic-ai/nomic-embed-text-v2-moe", "/models/mine", "LaBSE",
     "Snowflake/snowflake-arctic-embed-l-v2.0", "jinaai/jina-embeddings-v2-base-de",
     "Alibaba-NLP/gte-multilingual-base"],
)  # fmt: skip
def test_others_are_not_suspected(name: str) -> None:
    assert not knows_english_only(NOWHERE, name)


@pytest.mark.parametrize("locale", LOCALES)
def test_people_of_another_language_are_told_which_model_it_is(locale: str) -> None:
    notice = language_notice(load_settings(locale=locale))
    if locale == "en":
        assert notice is None
    else:
        assert notice is not None
        assert BUNDLED_EMBEDDINGS in notice
        assert "embeddings.model" in notice


def test_a_model_of_many_languages_needs_no_notice(tmp_path: Path) -> None:
    model = str(card(tmp_path, "language: multilingual"))
    assert language_notice(Settings.model_validate({"locale": "fr", "embeddings": {"model": model}})) is None
