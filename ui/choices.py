"""What a person may choose in the settings panel: engine and method of one chat, and the settings of all chats."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Literal, get_args, get_origin

from chainlit.input_widget import InputWidget, NumberInput, Select, Switch, Tab
from pydantic import TypeAdapter, ValidationError

from condensery.prompts.loader import Prompts
from condensery.retrieval.plans import METHOD_NAMES, plan_for
from condensery.settings import Settings
from condensery.settings_profiles import DEFAULT, talking
from condensery.settings_runtime import FIELDS, changeable
from condensery.workflows.engines.table import ENGINES

TABLES: dict[str, Collection[str]] = {"engine": ENGINES, "method": METHOD_NAMES}
AS_SET = "as_set"  # the choice to follow the settings, also when they change


@dataclass(frozen=True)
class Choices:
    """What one chat was given of its own, None where it follows the settings.

    What is not known, such as a name of an older version, counts as not chosen.
    """

    engine: str | None = None
    method: str | None = None
    agent: str | None = None

    @classmethod
    def of(cls, chosen: Mapping[str, Any], agents: Collection[str] = ()) -> "Choices":
        """What was chosen in the panel, where `agents` are declared."""
        return cls(**known(chosen, agents))

    def widgets(self, prompts: Prompts, settings: Settings, methods: Iterable[str] = METHOD_NAMES) -> list[InputWidget]:
        """The lists of a chat: agents where there are any, every engine, those `methods` that can be used here."""
        plan = plan_for(settings.retrieval.method, settings)
        now = {"engine": settings.condense.engine, "method": plan.name, "agent": DEFAULT}
        offered = TABLES | {"method": list(dict.fromkeys([*methods, *filter(None, [self.method])]))}
        if agents := talking(settings):
            offered = {"agent": agents, **offered}
        return [
            Select(
                id=name,
                label=prompts.text(f"ui.{name}"),
                description=prompts.text(f"ui.{name}_help"),
                items={prompts.text("ui.as_set", value=now[name]): AS_SET, **{choice: choice for choice in table}},
                initial_value=getattr(self, name) or AS_SET,
            )
            for name, table in offered.items()
        ]


def known(chosen: Mapping[str, Any], agents: Collection[str] = ()) -> dict[str, str]:
    """The choices among `chosen` that exist, where `agents` are declared."""
    tables = TABLES | {"agent": agents}
    return {name: chosen[name] for name, table in tables.items() if chosen.get(name) in table}


def panel(
    chosen: Mapping[str, Any], prompts: Prompts, settings: Settings, methods: Iterable[str] = METHOD_NAMES
) -> list[Tab]:
    """The settings panel: the choices of this chat, and every setting that can be changed at run time."""
    own = Choices.of(chosen, talking(settings)).widgets(prompts, settings, methods)
    return [
        Tab(id="this_chat", label=prompts.text("ui.this_chat"), inputs=own),
        Tab(
            id="all_chats",
            label=prompts.text("ui.all_chats"),
            inputs=[_widget(name, settings) for name in changeable()],
        ),
    ]


def changed(chosen: Mapping[str, Any], shown: Settings) -> dict[str, Any]:
    """The settings among the panel's values that differ from what it showed, by name."""
    values = {name: chosen[_id(name)] for name in changeable() if _id(name) in chosen}
    return {name: value for name, value in values.items() if not _is_shown(name, value, shown)}


def _widget(name: str, settings: Settings) -> InputWidget:
    kind, value = FIELDS[name].annotation, _value(name, settings)
    texts: dict[str, Any] = {"id": _id(name), "label": name, "description": FIELDS[name].description}
    if kind is bool:
        return Switch(initial=value, **texts)
    if get_origin(kind) is Literal:
        return Select(items={choice: choice for choice in get_args(kind)}, initial_value=value, **texts)
    return NumberInput(initial=value, **texts)


def _is_shown(name: str, value: Any, shown: Settings) -> bool:
    """Whether a value of the page, where numbers may be text and nothing is blank, means what the page showed."""
    if value in ("", None):
        return _value(name, shown) is None
    try:
        kind: Any = FIELDS[name].annotation
        return bool(TypeAdapter(kind).validate_python(value) == _value(name, shown))
    except ValidationError:
        return False


def _value(name: str, settings: Settings) -> Any:
    return attrgetter(name)(settings)


def _id(name: str) -> str:
    """The page takes a dot for a way into nested values."""
    return name.replace(".", "__")
