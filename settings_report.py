"""What the settings are and where each came from, for `condensery settings`."""

from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from condensery.settings import Settings
from condensery.settings_load import leaves, variable
from condensery.settings_mask import displayed


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


def settings_reference() -> str:
    """Every setting with its environment variable, its default and what it is for, as a Markdown table."""
    defaults = {row.name: row.value for row in effective(Settings())}
    lines = ["| Setting | Environment variable | Default | What it is |", "| --- | --- | --- | --- |"]
    for name, field in leaves(Settings):
        default = "the user's data folder" if name == "data_dir" else f"`{defaults[name] or repr('')}`"
        lines.append(f"| `{name}` | `{variable(name)}` | {default} | {field.description or ''} |")
    return "\n".join(lines)


def update(document: str) -> None:
    """Replace the table that a Markdown file ends with by today's reference."""
    path = Path(document)
    text, _, _ = path.read_text(encoding="utf-8").partition("| Setting |")
    path.write_text(f"{text}{settings_reference()}\n", encoding="utf-8")
