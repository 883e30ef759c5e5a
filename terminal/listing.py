"""Commands that show what there is: documents, settings, and agents as drawings."""

import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, cast

from rich.table import Table

from condensery.errors import ConfigError
from condensery.terminal.explain import cell
from condensery.terminal.options import Options
from condensery.terminal.output import err, out
from condensery.terminal.running import Code

if TYPE_CHECKING:
    from condensery.workflows.drawing import Format


async def documents(options: Options, *, as_json: bool) -> Code:
    """List the documents of the index."""
    from condensery.terminal.opening import empty_index, opened

    async with opened(options.settings()) as app:
        records = await app.services.documents.list()
    if as_json:
        out.write(json.dumps([record.model_dump(mode="json") for record in records], indent=2) + "\n")
        return Code.OK
    if not records:
        err.say(empty_index(options))
        return Code.OK
    table = Table("source", "title", "namespace")
    for name in ("chunks", "characters"):
        table.add_column(name, justify="right")
    table.add_column("ingested", no_wrap=True)
    for record in records:
        when = record.ingested_at.astimezone().strftime("%Y-%m-%d %H:%M")
        texts = map(cell, (record.source, record.title, record.namespace))
        table.add_row(*texts, f"{record.chunks}", f"{record.chars}", when)
    out.print(table)
    return Code.OK


async def settings(options: Options, *, as_json: bool) -> Code:
    """Show every setting, its value and where it came from; secrets stay covered."""
    given = options.settings()
    from condensery.models.languages import language_notice
    from condensery.settings_report import effective, settings_table
    from condensery.terminal.setting import stored_over

    found = await stored_over(given)
    if as_json:
        rows = {row.name: {"value": row.value, "source": row.source} for row in effective(found)}
        out.write(json.dumps(rows, indent=2, ensure_ascii=False) + "\n")
    else:
        out.write(settings_table(found) + "\n")
    with suppress(ConfigError):  # a model that is not there is for the commands that need it to say
        if notice := language_notice(found):
            err.say(notice)
    return Code.OK


def draw(agent: str, *, form: str, output: Path | None) -> None:
    """Draw the steps of the agent called `agent` to a file or to stdout; raises `UnknownName`."""
    from condensery.agents.table import agent_class
    from condensery.workflows.drawing import draw

    picture = draw(agent_class(agent), format=cast("Format", form)).rstrip("\n") + "\n"
    if output is None:
        out.write(picture)
        return
    try:
        output.write_text(picture, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot write {output}: {error.strerror}; choose another --output") from error
    err.say(f"wrote {output}")
