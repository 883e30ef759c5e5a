"""The settings that may be changed while Condensery runs: which, why not the others, and what a change must keep to.

Changes are stored in the database and apply to the next turn. A stored value stands over environment, file and default,
and under an argument of the program.
"""

from collections.abc import Collection, Iterator, Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import JsonValue, SecretStr

from condensery.settings import Settings
from condensery.settings_load import ARGUMENT, Fault, Given, built, leaves, refused, tree_layer, unknown, variable
from condensery.settings_mask import is_optional, mentions_type

DATABASE = "database"
NEW = "new value"

CHANGEABLE = (
    "retrieval", "condense", "hyde", "rerank", "history", "memory", "few_shot", "guard", "experts", "answer", "limits",
    "gate",
)  # fmt: skip
"""The sections that every turn reads anew."""

WHY_FIXED: dict[str, str] = {
    "data_dir": "it decides which database is opened",
    "database_url": "it decides which database is opened",
    "locale": "the texts are loaded at start; set it and restart",
    "llm": "the model is opened with it at start; set it and restart",
    "embeddings": "the index was made with it; set it and ingest again with --rebuild",
    "embeddings.batch_size": "the model is opened with it at start; set it and restart",
    "ingest": "the index was made with it; set it and ingest again with --rebuild",
    "ingest.namespace": "each ingestion chooses: ingest --namespace",
    "memory.user": "a terminal asks for one person from its start; set it and restart",
    "memory.organization": "terminal and app ask for one organization from their start; set it and restart",
    "memory.approvers": "who may approve is for whoever runs this to say; set it and restart",
    "few_shot.guard_examples": "the examples are read at start; set it and restart",
    "experts.channel": "where questions are sent is for whoever runs this to say; set it and restart",
    "experts.webhook_url": "where questions are sent is for whoever runs this to say; set it and restart",
    "experts.secret": "it is shared with whoever answers; set it and restart",
    "experts.host": "condensery experts serve listens there since its start; set it and restart",
    "experts.port": "condensery experts serve listens there since its start; set it and restart",
    "app": "the app listens there since its start; set it and restart",
    "agents": "they are made at start; declare them in the file and restart",
}
"""Why a section, or a single setting, cannot be changed at run time."""

FREE_TEXT = "a model is opened with it at start; set it and restart"
UNDECLARED = "it is read at start; set it and restart"

FIELDS = dict(leaves(Settings))


class Changes(NamedTuple):
    """What is to be stored, and the names whose stored values are to go."""

    values: dict[str, JsonValue]
    unset: frozenset[str] = frozenset()

    def over(self, stored: Mapping[str, Any]) -> dict[str, Any]:
        """What is stored after them."""
        return {name: value for name, value in stored.items() if name not in self.unset} | self.values


def why_fixed(name: str) -> str | None:
    """Why the setting of that name cannot be changed at run time; None when it can.

    Of a changeable section, that is every number, switch and choice; what a person would have to spell names a model.
    """
    section = name.partition(".")[0]
    if section in CHANGEABLE:
        spelled = any(mentions_type(FIELDS[name].annotation, kind) for kind in (str, SecretStr, Path))
        return WHY_FIXED.get(name, FREE_TEXT if spelled else None)
    return WHY_FIXED.get(name) or WHY_FIXED.get(section) or UNDECLARED


def changeable() -> list[str]:
    """The names of the settings that can be changed at run time."""
    return [name for name in FIELDS if why_fixed(name) is None]


def applied(base: Settings, stored: Mapping[str, Any]) -> tuple[Settings, list[str]]:
    """`base` with the stored values over all but its arguments, and why some of them are passed over.

    What an upgrade or another environment has made unusable is left out, and nothing else.
    """
    given = given_to(base)
    ignored = [reason for name in stored if (reason := _not_changeable(name, DATABASE))]
    wanted = {
        name: Given(value, DATABASE)
        for name, value in stored.items()
        if not _not_changeable(name, DATABASE) and not (name in given and given[name].source == ARGUMENT)
    }
    while wanted:
        settings, faults = built(Settings, given | wanted)
        if settings is not None:
            settings.sources.update({name: value.source for name, value in (given | wanted).items()})
            return settings, ignored
        named = {name for fault in faults for name in fault.names} & wanted.keys()
        ignored += [fault.text for fault in faults]
        wanted = {name: value for name, value in wanted.items() if named and name not in named}
    return base, ignored


def checked(base: Settings, stored: Mapping[str, Any], changes: Mapping[str, Any]) -> Changes:
    """`changes` as they are stored; raises `ConfigError` naming every fault, and then nothing may be stored.

    They are checked together, over what is stored and given otherwise: two that only work together are fine. A section
    may be given as a dict, as `load_settings` takes it.
    """
    layer = tree_layer(changes, FIELDS, lambda _: NEW)
    layer.values.update({name: Given(None, NEW) for name, given in layer.values.items() if _left_blank(name, given)})
    problems = [*layer.problems, *(fault for name in layer.values if (fault := _not_changeable(name, NEW)))]
    current, _ = applied(base, stored)
    settings, faults = built(Settings, given_to(current) | layer.values)
    if problems := [*problems, *_new(faults, layer.values, problems)]:
        raise refused("nothing was changed", problems)
    assert settings is not None  # noqa: S101  # there is no fault
    plain = dict(_leaves_of(settings.model_dump(mode="json")))
    return Changes({name: plain[name] for name in layer.values})


def checked_reset(base: Settings, stored: Mapping[str, Any], names: Collection[str]) -> Changes:
    """The reset of `names` to what they are without the database; raises `ConfigError` when the rest needs them."""
    if problems := [unknown(name, "to unset", list(FIELDS)) for name in names if name not in {*FIELDS, *stored}]:
        raise refused("nothing was changed", problems)
    current, _ = applied(base, stored)
    kept = {name: given for name, given in given_to(current).items() if given.source == DATABASE and name not in names}
    _, faults = built(Settings, given_to(base) | kept)
    if faults:
        raise refused("nothing was changed", [fault.text for fault in faults])
    return Changes({}, frozenset(names))


def given_to(settings: Settings) -> dict[str, Given]:
    """What somebody set, by name; a value of no known source was an argument of whoever made the settings."""
    return {
        name: Given(attrgetter(name)(settings), settings.sources.get(name, ARGUMENT))
        for name in FIELDS
        if _is_set(settings, name)
    }


def _leaves_of(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The values of nested sections, by setting name."""
    for key, value in values.items():
        if prefix + key in FIELDS:
            yield prefix + key, value
        else:
            yield from _leaves_of(value, f"{prefix}{key}.")


def _is_set(settings: Settings, name: str) -> bool:
    section, _, field = name.rpartition(".")
    holder = attrgetter(section)(settings) if section else settings
    outer = not section or section in settings.model_fields_set
    return outer and field in holder.model_fields_set


def _left_blank(name: str, given: Given) -> bool:
    """Whether a setting that may be absent is given as a blank text, as a variable or a command line does."""
    return is_optional(FIELDS[name]) and isinstance(given.value, str) and not given.value.strip()


def _not_changeable(name: str, source: str) -> str | None:
    if name not in FIELDS:
        return unknown(name, source, list(FIELDS))
    reason = why_fixed(name)
    way = f"{variable(name)}, or condensery.toml"
    return f"{name} ({source}): cannot be changed while Condensery runs: {reason} ({way})" if reason else None


def _new(faults: Collection[Fault], values: Mapping[str, Given], problems: Collection[str]) -> list[str]:
    """The faults that are worth telling beside what is wrong with the names."""
    return [fault.text for fault in faults if not problems or any(name in values for name in fault.names)]
