"""Fill a settings model from arguments, the environment and a TOML file, and say where each value came from.

pydantic-settings reads the environment and the file. Ours is what it does not do: it keeps no record of where a value
came from, passes over misspelled variables, and stops at the first source that fails. A setting is named by its path,
`section.field`; every problem, in whatever source, ends up in one `ConfigError`.
"""

import difflib
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from stat import S_ISREG
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, EnvSettingsSource, TomlConfigSettingsSource

from condensery.errors import DEBUG_VARIABLE, ConfigError
from condensery.settings_mask import is_optional, shown

ENV_PREFIX = "CONDENSERY_"
ENV_DELIMITER = "__"
TOML_FILE = "condensery.toml"
CONFIG_VARIABLE = "CONDENSERY_CONFIG"
ARGUMENT = "argument"
# Variables with our prefix that are no settings: where the file is, whether the command line shows tracebacks, and
# whether the test suite insists on a browser.
OTHER_VARIABLES = frozenset({CONFIG_VARIABLE, DEBUG_VARIABLE, "CONDENSERY_REQUIRE_BROWSER"})

Fields = dict[str, FieldInfo]
M = TypeVar("M", bound=BaseSettings)


class Given(NamedTuple):
    """A value somebody set, and where, in words for a person."""

    value: Any
    source: str


class Layer(NamedTuple):
    """What one source sets, by setting name, and what is wrong with it."""

    values: dict[str, Given]
    problems: list[str]


class Fault(NamedTuple):
    """What keeps settings from being used, and the settings that it is about."""

    text: str
    names: tuple[str, ...]


def load(model: type[M], overrides: Mapping[str, Any]) -> tuple[M, dict[str, str]]:
    """Return the model and the source of each setting that is not a default; raise one `ConfigError` for all faults."""
    fields = dict(leaves(model))
    layers = [toml_layer(model, fields), env_layer(model, fields), tree_layer(overrides, fields, lambda _: ARGUMENT)]
    given = {name: value for layer in layers for name, value in layer.values.items()}
    settings, faults = built(model, given)
    problems = [problem for layer in layers for problem in layer.problems] + [fault.text for fault in faults]
    if problems or settings is None:
        raise refused("the settings cannot be used", problems)
    return settings, {name: value.source for name, value in given.items()}


def built(model: type[M], given: Mapping[str, Given]) -> tuple[M | None, list[Fault]]:
    """The model with the values given, or None and what is wrong with them."""
    fields = dict(leaves(model))
    try:
        return model.model_validate(tree(given)), []
    except ValidationError as error:
        return None, [explain(detail, fields, given) for detail in error.errors(include_url=False)]


def refused(what: str, problems: Iterable[str]) -> ConfigError:
    """An error that lists its reasons."""
    return ConfigError(f"{what}:\n" + "\n".join(f"  {problem}" for problem in problems))


def leaves(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
    """Every setting of the model by name, sections descended into."""
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from leaves(kind, f"{prefix}{name}.")
        else:
            yield prefix + name, field


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return ENV_PREFIX + name.replace(".", ENV_DELIMITER).upper()


def toml_layer(model: type[BaseSettings], fields: Fields) -> Layer:
    """What the file named by `CONDENSERY_CONFIG`, or `condensery.toml` in the working directory, sets."""
    named = os.environ.get(CONFIG_VARIABLE, "").strip()
    path = Path(named or TOML_FILE).expanduser()
    if not named and not path.exists():
        return Layer({}, [])
    return tree_layer(read_toml(model, path, named=bool(named)), fields, lambda _: str(path))


def read_toml(model: type[BaseSettings], path: Path, *, named: bool) -> dict[str, Any]:
    """Parse a file; raise `ConfigError` with the place of the fault."""
    try:
        # The library passes over what is no file without a word.
        if not S_ISREG(path.stat().st_mode):
            raise ConfigError(f"cannot read the settings file {path}: it is not a regular file")
        return TomlConfigSettingsSource(model, toml_file=path)()
    except OSError as error:
        hint = f"; {CONFIG_VARIABLE} names it" if named else ""
        raise ConfigError(f"cannot read the settings file {path}: {error.strerror}{hint}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not valid TOML: {error}") from None


def env_layer(model: type[BaseSettings], fields: Fields) -> Layer:
    """What `CONDENSERY_SECTION__FIELD` variables set; a blank one leaves a setting that may be absent unset."""
    names = {variable(name): name for name in fields}
    # Field names are lower case and variables upper case, so the library has to match them in any case.
    source = EnvSettingsSource(model, case_sensitive=False)
    # It gets to see our exact names only, or it would take them in lower case too, and JSON for a whole section. Blank
    # values it could leave out only of all settings alike, but a blank number is a mistake.
    source.env_vars = {
        key.lower(): os.environ[key]
        for key, name in names.items()
        if key in os.environ and (os.environ[key].strip() or not is_optional(fields[name]))
    }
    layer = tree_layer(source(), fields, lambda name: f"environment variable {variable(name)}")
    ours = sorted(key for key in os.environ if key.upper().startswith(ENV_PREFIX) and key not in OTHER_VARIABLES)
    layer.problems.extend(unknown(key, "environment", [*names, *OTHER_VARIABLES]) for key in ours if key not in names)
    return layer


def tree_layer(values: Mapping[str, Any], fields: Fields, source: Callable[[str], str], prefix: str = "") -> Layer:
    """What a mapping of sections sets."""
    layer = Layer({}, [])
    for key, value in values.items():
        name = prefix + key
        content = value.model_dump(exclude_unset=True) if isinstance(value, BaseModel) else value
        if name in fields:
            layer.values[name] = Given(value, source(name))
        elif not any(known.startswith(f"{name}.") for known in fields):
            layer.problems.append(unknown(name, source(name), list(fields)))
        elif isinstance(content, Mapping):
            inner = tree_layer(content, fields, source, f"{name}.")
            layer.values.update(inner.values)
            layer.problems.extend(inner.problems)
        else:
            layer.problems.append(f"{name} ({source(name)}): is a section of settings, got a {type(value).__name__}")
    return layer


def tree(given: Mapping[str, Given]) -> dict[str, Any]:
    """Nest named values into sections."""
    root: dict[str, Any] = {}
    for name, (value, _) in given.items():
        *sections, field = name.split(".")
        node = root
        for section in sections:
            node = node.setdefault(section, {})
        node[field] = value
    return root


def unknown(name: str, source: str, choices: list[str]) -> str:
    """Say that there is no such setting, never its value (it may be a misspelled secret), and what is near."""
    in_case = name.upper() if source == "environment" else name
    near = difflib.get_close_matches(in_case, choices, n=2, cutoff=0.8)
    hint = f"did you mean {' or '.join(near)}?" if near else "`condensery settings` lists what there is"
    return f"{name} ({source}): no such setting; {hint}"


def explain(detail: Any, fields: Fields, given: Mapping[str, Given]) -> Fault:
    """One of pydantic's findings as: setting, source, what it got, what is allowed."""
    place = name = ".".join(str(part) for part in detail["loc"] if part != "[key]")
    while name and name not in fields:  # inside a value: report the setting that holds it
        name = name.rpartition(".")[0]
    reason = requirement(detail["msg"])
    if not name:
        named = tuple(each for each in fields if mentions(reason, each))
        return Fault(with_values(reason, [each for each in given if each in named], given, fields), named)
    found = given.get(name) or Given(detail["input"], "default")
    if isinstance(found.value, Mapping):
        found, where = found._replace(value=detail["input"]), place
    else:
        where = name
    return Fault(f"{where} ({found.source}): got {shown(found.value, fields[name])}; {reason}", (name,))


def requirement(message: str) -> str:
    """Pydantic's sentence in the words of a demand."""
    subject, found, rest = message.partition(" should ")
    if found and subject in ("Input", "String"):
        return f"must {rest}"
    return message.removeprefix("Value error, ")


def mentions(reason: str, name: str) -> bool:
    """Whether a rule about several settings speaks of this one."""
    return re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", reason) is not None


def with_values(reason: str, named: Iterable[str], given: Mapping[str, Given], fields: Fields) -> str:
    """A rule about several settings, followed by what those it names are set to and where."""
    values = ", ".join(f"{name} = {shown(given[name].value, fields[name])} ({given[name].source})" for name in named)
    return f"{reason}; got {values}" if values else reason
