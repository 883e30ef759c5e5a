"""What an embedding model's folder says about it, read without loading the model."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from condensery.errors import ConfigError
from condensery.models.packages import PREFIX, resolve_package


class Prefixes(NamedTuple):
    """What a model wants in front of questions and of documents."""

    query: str = ""
    document: str = ""


# Families whose model cards ask for prefixes that many copies of their folders do not record; matched in the name.
_BGE = Prefixes("Represent this sentence for searching relevant passages: ")
FAMILIES: dict[str, Prefixes] = {
    "e5-large-instruct": Prefixes("Instruct: Retrieve passages that answer the question\nQuery: "),
    "e5-mistral-7b-instruct": Prefixes("Instruct: Retrieve passages that answer the question\nQuery: "),
    "e5-": Prefixes("query: ", "passage: "),
    "bge-small-en": _BGE,
    "bge-base-en": _BGE,
    "bge-large-en": _BGE,
    "mxbai-embed": _BGE,
    "arctic-embed-l-v2": Prefixes("query: "),
    "arctic-embed-m-v2": Prefixes("query: "),
    "arctic-embed": _BGE,
    "nomic-embed-text": Prefixes("search_query: ", "search_document: "),
}


def model_folder(spec: str) -> Path:
    """Return the folder of `package:NAME`, of a path, or of a hub name that is in the local cache; never fetches."""
    if spec.startswith(PREFIX):
        return resolve_package(spec, "embeddings")
    folder = Path(spec).expanduser()
    if folder.is_dir():
        return folder
    cached = cached_folder(spec)
    if cached is None:
        raise ConfigError(
            f"the embedding model '{spec}' is neither a folder nor in the local model cache, and models are never "
            f"fetched at run time; run `hf download {spec}` once, or set embeddings.model to a folder or package:NAME"
        )
    return cached


def cached_folder(name: str) -> Path | None:
    """Return the folder of a hub name that is in the local cache, else None; never fetches."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(name, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError):
        return None


def prefixes_of(folder: Path, name: str) -> Prefixes:
    """Return the prefixes the folder records, else those of the family its name belongs to, else none.

    A folder that was renamed may still say which model it holds.
    """
    recorded = read_json(folder / "config_sentence_transformers.json").get("prompts") or {}
    document = recorded.get("document") or recorded.get("passage") or ""
    if recorded.get("query") or document:
        return Prefixes(recorded.get("query") or "", document)
    known = f"{name} {folder.name} {original_name(folder)}".lower()
    return next((prefixes for family, prefixes in FAMILIES.items() if family in known), Prefixes())


def original_name(folder: Path) -> str:
    """Return the name under which the model in `folder` was saved, "" when the folder does not say."""
    return str(read_json(folder / "config.json").get("_name_or_path") or "")


def dimension_of(folder: Path) -> int:
    """Return the length of the model's vectors. Raises `ConfigError` for a folder that does not say."""
    modules = read_json(folder / "modules.json") or []
    sizes = [_module_dimension(folder, module) for module in modules]
    known = [size for size in [read_json(folder / "config.json").get("hidden_size"), *sizes] if size]
    if not known:
        raise ConfigError(f"{folder} is no sentence-transformers model: its config.json names no hidden_size")
    return int(known[-1])


def _module_dimension(folder: Path, module: dict[str, Any]) -> int | None:
    config: dict[str, int] = read_json(folder / module.get("path", "") / "config.json")
    if module.get("type", "").endswith("Pooling"):
        return config.get("word_embedding_dimension")
    return config.get("out_features") if module.get("type", "").endswith("Dense") else None


def read_json(path: Path) -> Any:
    """Return what the JSON file holds; an empty mapping when there is no such file."""
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
