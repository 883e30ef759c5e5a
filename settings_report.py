"""What the settings are and where each came from, for `condensery settings`."""

from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from condensery.settings import Settings
from condensery.settings_load import leaves, variable
from condensery.settings_mask import displayed
from condensery.settings_runtime import FIELDS, why_fixed


class Effective(NamedTuple):
    """One setting: its name (`section.field`), its value as text with secrets masked, and where it came from."""

    name: str
    value: str
    source: str


def effective(settings: Settings) -> list[Effective]:
    """Every setting in the order of the settings tree."""
    return [
        Effective(name, displayed(attrgetter(name)(settings)), settings.sources.get(name, "default"))
        for name, _ in leaves(Settings)
    ]


def settings_table(settings: Settings) -> str:
    """The settings as aligned lines of name, value and source."""
    rows = effective(settings)
    names = max(len(row.name) for row in rows)
    values = min(max(len(row.value) for row in rows), 60)
    return "\n".join(f"{row.name:<{names}}  {row.value or repr(''):<{values}}  {row.source}" for row in rows)


def run_time_table(settings: Settings) -> str:
    """The settings that can be changed while Condensery runs, and why the others cannot, as aligned lines."""
    rows = effective(settings)
    names = max(len(row.name) for row in rows)
    free = [row for row in rows if why_fixed(row.name) is None]
    values = max(len(row.value) for row in free)
    lines = [f"  {row.name:<{names}}  {row.value:<{values}}  {FIELDS[row.name].description}" for row in free]
    fixed = [f"  {row.name:<{names}}  {reason}" for row in rows if (reason := why_fixed(row.name))]
    return "\n".join(["Changed by `condensery set NAME VALUE`:", *lines, "", "Not while Condensery runs:", *fixed])


def settings_reference() -> str:
    """Every setting: environment variable, default, meaning, whether it may change at run time; a Markdown table."""
    defaults = {row.name: row.value for row in effective(Settings())}
    columns = ("Setting", "Environment variable", "Default", "What it is", "`condensery set`")
    lines = [f"| {' | '.join(columns)} |", f"| {' | '.join('---' for _ in columns)} |"]
    for name, field in leaves(Settings):
        default = "the user's data folder" if name == "data_dir" else f"`{defaults[name] or repr('')}`"
        change = f"no: {reason}" if (reason := why_fixed(name)) else "yes"
        lines.append(f"| `{name}` | `{variable(name)}` | {default} | {field.description or ''} | {change} |")
    return "\n".join(lines)


def update(document: str) -> None:
    """Replace the table that a Markdown file ends with by today's reference."""
    path = Path(document)
    text, _, _ = path.read_text(encoding="utf-8").partition("| Setting |")
    path.write_text(f"{text}{settings_reference()}\n", encoding="utf-8")
