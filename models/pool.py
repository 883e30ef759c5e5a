"""The chat models of one process: a stage may have its own, and equal ones are one."""

import asyncio
from pathlib import Path

from pydantic import SecretStr

from condensery.models.chat import ChatModel, open_chat_model
from condensery.models.specs import Endpoint, LocalFile, parse_model_spec
from condensery.settings import Llm

Identity = Path | tuple[Endpoint, str]


class ModelPool:
    """Opens each model once; its weights load with its first call.

    A model that is opened here has the sizes, temperature, threads and time limits of the `llm` section.
    """

    def __init__(self, settings: Llm, main: ChatModel | None) -> None:
        self._settings = settings
        self._main = main
        self._opened: dict[Identity, ChatModel | None] = {}

    def get(self, spec: str, api_key: SecretStr | None = None, *, setting: str = "llm.model") -> ChatModel | None:
        """The model that `spec` names: "" is the `llm` section's own, None stands for "none".

        Without `api_key`, the section's key goes to the section's endpoint, and no key to any other. Raises
        `ConfigError` for a spec that names no model; `setting` is where the spec stands.
        """
        target = parse_model_spec(spec, setting) if spec else None
        if target is None:
            return None if spec else self._main
        key = api_key or self._own_key(target)
        identity = _identity(target, key)
        if identity == self._main_identity():
            return self._main
        if identity not in self._opened:
            settings = self._settings.model_copy(update={"model": spec, "api_key": key})
            self._opened[identity] = open_chat_model(settings, setting)
        return self._opened[identity]

    async def close(self) -> None:
        """Close what was opened here; the section's own model belongs to whoever opened it."""
        models = list(self._opened.values())
        self._opened.clear()
        await asyncio.gather(*(model.close() for model in models if model))

    def _own_key(self, target: LocalFile | Endpoint) -> SecretStr | None:
        own = parse_model_spec(self._settings.model)
        same_host = isinstance(own, Endpoint) and isinstance(target, Endpoint) and own.url == target.url
        return self._settings.api_key if same_host else None

    def _main_identity(self) -> Identity | None:
        own = parse_model_spec(self._settings.model)
        return _identity(own, self._settings.api_key) if own else None


def _identity(target: LocalFile | Endpoint, key: SecretStr | None) -> Identity:
    """What makes two specs the same model: one file, or one model at one endpoint with one key."""
    if isinstance(target, LocalFile):
        return target.path.resolve()
    return target, key.get_secret_value() if key else ""
