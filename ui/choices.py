"""What a person may choose in the settings panel: the chat engine and the retrieval method of the next turns."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from chainlit.input_widget import InputWidget, Select

from condensery.prompts.loader import Prompts
from condensery.retrieval.methods import METHODS
from condensery.settings import Settings
from condensery.workflows.engines.table import ENGINES

TABLES: dict[str, Mapping[str, Any]] = {"engine": ENGINES, "method": METHODS}


@dataclass(frozen=True)
class Choices:
    """The settings panel's values; what it does not know, such as a name of an older version, counts as not chosen."""

    engine: str
    method: str

    @classmethod
    def of(cls, chosen: Mapping[str, Any], settings: Settings) -> "Choices":
        """What was chosen, else the settings' own."""
        defaults = {"engine": settings.condense.engine, "method": settings.retrieval.method}
        return cls(**(defaults | known(chosen)))

    def widgets(self, prompts: Prompts) -> list[InputWidget]:
        """The panel's two lists."""
        return [
            Select(
                id=name,
                label=prompts.text(f"ui.{name}"),
                description=prompts.text(f"ui.{name}_help"),
                items={choice: choice for choice in table},
                initial_value=getattr(self, name),
            )
            for name, table in TABLES.items()
        ]


def known(chosen: Mapping[str, Any]) -> dict[str, str]:
    """The choices among `chosen` that exist."""
    return {name: chosen[name] for name, table in TABLES.items() if chosen.get(name) in table}
