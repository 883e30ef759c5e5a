"""What a person may choose in the settings panel: the chat engine and the retrieval method of the next turns."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from chainlit.input_widget import InputWidget, Select

from condensery.prompts.loader import Prompts
from condensery.retrieval.plans import METHOD_NAMES, plan_for
from condensery.settings import Settings
from condensery.workflows.engines.table import ENGINES

TABLES: dict[str, Collection[str]] = {"engine": ENGINES, "method": METHOD_NAMES}


@dataclass(frozen=True)
class Choices:
    """The settings panel's values; what it does not know, such as a name of an older version, counts as not chosen."""

    engine: str
    method: str

    @classmethod
    def of(cls, chosen: Mapping[str, Any], settings: Settings) -> "Choices":
        """What was chosen, else the settings' own."""
        method = plan_for(settings.retrieval.method, settings).name
        defaults = {"engine": settings.condense.engine, "method": method}
        return cls(**(defaults | known(chosen)))

    def widgets(self, prompts: Prompts, methods: Iterable[str] = METHOD_NAMES) -> list[InputWidget]:
        """The panel's two lists: every engine, and those `methods` that can be used here."""
        offered = TABLES | {"method": list(dict.fromkeys([*methods, self.method]))}
        return [
            Select(
                id=name,
                label=prompts.text(f"ui.{name}"),
                description=prompts.text(f"ui.{name}_help"),
                items={choice: choice for choice in table},
                initial_value=getattr(self, name),
            )
            for name, table in offered.items()
        ]


def known(chosen: Mapping[str, Any]) -> dict[str, str]:
    """The choices among `chosen` that exist."""
    return {name: chosen[name] for name, table in TABLES.items() if chosen.get(name) in table}
