"""The chat engines there are. A new one is a line here."""

from collections.abc import Callable

from condensery.errors import UnknownName
from condensery.models.chat import ChatModel
from condensery.prompts.loader import Prompts
from condensery.settings import Settings
from condensery.workflows.engines.base import ChatEngine
from condensery.workflows.engines.condense_context import CondenseContext
from condensery.workflows.engines.expand_context import ExpandContext
from condensery.workflows.engines.fuse_context import FuseContext
from condensery.workflows.engines.simple import Simple

ENGINES: dict[str, Callable[[Settings, ChatModel | None, Prompts], ChatEngine]] = {
    "simple": lambda settings, model, prompts: Simple(),
    "condense_context": CondenseContext,
    "expand_context": lambda settings, model, prompts: ExpandContext(settings.condense, prompts.locale),
    "fuse_context": FuseContext,
}


def open_engine(name: str, settings: Settings, model: ChatModel | None, prompts: Prompts) -> ChatEngine:
    """The engine called `name`; raises `UnknownName`, which lists the choices."""
    if name not in ENGINES:
        raise UnknownName("chat engine", name, list(ENGINES))
    return ENGINES[name](settings, model, prompts)
