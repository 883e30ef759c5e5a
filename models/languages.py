"""Which languages an embedding model was made for, as far as its folder or its name tells."""

import re
from pathlib import Path

from condensery.models.embedding_folder import model_folder
from condensery.prompts.loader import prompts_for
from condensery.settings import Embeddings, Settings

ENGLISH = frozenset({"en", "eng", "english"})

# Families made for English whose folders often come without a model card; matched in the name.
_ENGLISH_FAMILIES = (
    r"all-minilm",
    r"all-mpnet",
    r"all-(distil)?roberta",
    r"multi-qa-",
    r"msmarco-",
    r"\be5-(small|base|large)",
    r"\bgte-(small|base|large)\b",
    r"gtr-t5",
    r"sentence-t5",
    r"\binstructor-",
    r"mxbai-embed-large",
    r"nomic-embed-text-v1",
    r"arctic-embed-(xs|s|m|l)(?!-v2)",
    r"[-_](en|english)\b",
)
_ENGLISH_NAME = re.compile("|".join(_ENGLISH_FAMILIES))
_MANY = re.compile(r"multilingual|xlm|cross-en|bge-m3|labse")
_FRONT_MATTER = re.compile(r"\A---\n(.*?)\n---", re.DOTALL)
_LANGUAGE = re.compile(r"^language:[ \t]*(?P<here>[^\n]*)(?P<below>(?:\n[ \t]*-[^\n]*)*)", re.MULTILINE)
_READ_CHARS = 20_000


def language_notice(settings: Settings) -> str | None:
    """Return what to tell people whose language the embedding model was not made for, in that language; else None.

    Raises `ConfigError` when the model is not there.
    """
    if settings.locale == "en" or not english_only(settings.embeddings):
        return None
    return prompts_for(settings.locale).text("ui.english_only", model=settings.embeddings.model)


def english_only(settings: Embeddings) -> bool:
    """Whether the embedding model is known to be made for English alone. Raises `ConfigError` when it is not there."""
    return knows_english_only(model_folder(settings.model), settings.model)


def knows_english_only(folder: Path, name: str) -> bool:
    """Whether the model's card says English and nothing else; without a card, whether its name does."""
    if recorded := languages_of(folder):
        return recorded <= ENGLISH
    known = f"{name} {folder.name}".lower()
    return _MANY.search(known) is None and _ENGLISH_NAME.search(known) is not None


def languages_of(folder: Path) -> frozenset[str]:
    """Return the languages that the model card in `folder` lists, in lower case; empty when it lists none."""
    card = folder / "README.md"
    if not card.is_file():
        return frozenset()
    text = card.read_text(encoding="utf-8", errors="replace")[:_READ_CHARS].replace("\r\n", "\n")
    front = _FRONT_MATTER.match(text)
    listed = _LANGUAGE.search(front.group(1)) if front else None
    if listed is None:
        return frozenset()
    return frozenset(re.findall(r"[a-z][a-z-]*", f"{listed['here']} {listed['below']}".lower().replace("- ", " ")))
