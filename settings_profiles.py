"""Named agents of a `condensery.toml`: what a profile may declare, and the settings that come of it."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, model_validator

from condensery.errors import UnknownName
from condensery.settings_load import built, refused, tree_layer
from condensery.settings_rules import home_expanded
from condensery.settings_sections import Section

if TYPE_CHECKING:
    from condensery.settings import Settings

AgentKind = Literal["rag", "expert_rag", "chat", "few_shot"]
DEFAULT = "default"
"""What the agent is called that has the settings and nothing of its own."""
RESERVED = (DEFAULT, "rag", "chat", "few_shot", "expert_rag", "expert_consultation", "memory_writer", "title")
"""Names with a meaning of their own, in listings and for `condensery draw`."""


def _free(name: str) -> str:
    if name in RESERVED:
        raise ValueError(f"an agent cannot be called {name}, which means something already")
    return name


AgentName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,31}$"), AfterValidator(_free)]
Namespace = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,64}$")]


class Profile(Section):
    """A named agent: what it is, and where its settings differ from those of all."""

    kind: AgentKind = Field(
        "rag", description="rag: documents; expert_rag: and experts; chat: no documents; few_shot: labels."
    )
    description: str = Field("", max_length=300, description="What it is for, in a sentence.")
    namespaces: tuple[Namespace, ...] = Field((), description="The parts of the index it searches; none: all.")
    prompts: Annotated[Path, BeforeValidator(home_expanded)] | None = Field(
        None, description="A folder of templates, NAME.md or LOCALE/NAME.md, which stand for the built-in ones."
    )
    examples: Annotated[Path, BeforeValidator(home_expanded)] | None = Field(
        None, description="A .toml or .jsonl file of labelled examples, for the kind few_shot alone."
    )
    own: dict[str, Any] = Field(default_factory=dict, exclude=True, repr=False)

    @model_validator(mode="before")
    @classmethod
    def gather(cls, given: Any) -> Any:
        """Set what is no field of a profile aside: sections of settings, checked when the whole tree is there."""
        if not isinstance(given, Mapping):
            return given
        fields = cls.model_fields.keys() - {"own"}
        return {key: value for key, value in given.items() if key in fields} | {
            "own": {key: _covered(value) for key, value in given.items() if key not in fields}
        }

    @model_validator(mode="after")
    def check_examples(self) -> Self:
        """Refuse examples that nothing reads, and a kind that lacks them."""
        if (self.kind == "few_shot") != (self.examples is not None):
            raise ValueError("examples = FILE belongs to an agent of the kind few_shot, and it needs them")
        return self


def talking(settings: "Settings") -> list[str]:
    """The names of the agents that answer: those that a person can choose to talk with."""
    return [name for name, profile in settings.agents.items() if profile.kind != "few_shot"]


def profile_of(settings: "Settings", name: str) -> Profile:
    """The profile called `name`; raises `UnknownName`, which lists those that are declared."""
    if name not in settings.agents:
        raise UnknownName("agent", name, [DEFAULT, *settings.agents])
    return settings.agents[name]


def settings_of(settings: "Settings", name: str) -> "Settings":
    """The settings of the agent called `name`: those of all, and over them its own.

    Raises `ConfigError` naming all that is wrong with them: no such setting, one that is the whole process's, a value
    that is not allowed, a combination that cannot work.
    """
    from condensery.settings import Settings
    from condensery.settings_runtime import FIELDS, given_to

    place = f"agents.{name}"
    layer = tree_layer(profile_of(settings, name).own, FIELDS, lambda _: place)
    problems = [*layer.problems, *(f"{each} ({place}): {why}" for each in layer.values if (why := _why_shared(each)))]
    given = {each: value for each, value in given_to(settings).items() if each != "agents"}
    made, faults = built(Settings, given | layer.values)
    problems += [fault.text for fault in faults if not problems or set(fault.names) & layer.values.keys()]
    if problems or made is None:
        raise refused(f"the agent {name} cannot be used", problems)
    made.sources.update({each: value.source for each, value in (given | layer.values).items()})
    return made


OWN_OF_EXPERTS = ("experts.enabled", "experts.wait_hours")
OWN_MODEL = ("llm.model", "llm.api_key")


def _why_shared(name: str) -> str | None:
    """Why a setting is the whole process's; None for one that an agent may have of its own."""
    from condensery.settings_runtime import CHANGEABLE, WHY_FIXED

    section = name.partition(".")[0]
    if section == "experts" and name not in OWN_OF_EXPERTS:
        return "questions of all agents go the same way; set it outside of them"
    if name in ("locale", "few_shot.guard_examples", *OWN_MODEL) or (section in CHANGEABLE and name not in WHY_FIXED):
        return None
    return "it is the same for all agents; set it outside of them"


def _covered(value: Any) -> Any:
    """`value` with keys of endpoints made unreadable."""
    if not isinstance(value, Mapping):
        return value
    return {key: SecretStr(each) if key == "api_key" and isinstance(each, str) else each for key, each in value.items()}
