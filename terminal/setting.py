"""`condensery set` and `unset`: settings that apply to the next turn of every process on the same data."""

from collections.abc import Iterable

import typer

from condensery.errors import CondenseryError
from condensery.settings import Settings
from condensery.settings_live import LiveSettings
from condensery.settings_report import effective, run_time_table
from condensery.storage.database import open_database
from condensery.storage.settings import SettingsRepository
from condensery.terminal.options import Options
from condensery.terminal.output import err, out
from condensery.terminal.running import Code


def pairs(words: list[str]) -> dict[str, str]:
    """Names and values in turn; a usage error when they do not pair, or a name comes twice."""
    if len(words) % 2:
        raise typer.BadParameter(f"{words[-1]} has no value; give names and values in turn: NAME VALUE [NAME VALUE]…")
    names = words[::2]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise typer.BadParameter(f"{', '.join(twice)} is given twice")
    return dict(zip(names, words[1::2], strict=True))


async def set_settings(words: list[str], options: Options) -> Code:
    """Store the values, all or none, and say what changed; without any, list what can be changed."""
    from condensery.terminal.opening import opened

    changes = pairs(words)
    if not changes:
        out.write(run_time_table(await stored_over(options.settings())) + "\n")
        return Code.OK
    async with opened(options.settings()) as app:
        before = app.settings
        say_changes(before, await app.set_settings(changes), changes)
    return Code.OK


async def unset_settings(names: list[str], options: Options) -> Code:
    """Forget the stored values of the settings named, all or none, and say what they are now."""
    from condensery.terminal.opening import opened

    async with opened(options.settings()) as app:
        before = app.settings
        say_changes(before, await app.reset_settings(*names), names)
    return Code.OK


async def stored_over(settings: Settings) -> Settings:
    """The settings with what the database stores. No database is made for that, and one out of reach is a warning."""
    if settings.database_url is None and not (settings.data_dir.expanduser() / "postgres" / "PG_VERSION").exists():
        return settings
    try:
        async with open_database(settings) as database:
            return await LiveSettings(settings, SettingsRepository(database)).current()
    except CondenseryError as error:
        err.say(f"warning: without what `condensery set` has stored: {error}", style="dim")
        return settings


def say_changes(before: Settings, after: Settings, names: Iterable[str]) -> None:
    """One line per setting: its value before and now, and where that comes from."""
    old, new = ({row.name: row for row in effective(settings)} for settings in (before, after))
    for name in names:
        if name in new:
            was = f" (was {old[name].value})" if old[name].value != new[name].value else ""
            out.say(f"{name} = {new[name].value or repr('')}, {new[name].source}{was}")
