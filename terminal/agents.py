"""`condensery agents` and `condensery classify`."""

import json
from typing import Any

from rich.table import Table

from condensery.agents.few_shot import Classified
from condensery.app import App
from condensery.services import Services
from condensery.settings_profiles import DEFAULT, Profile
from condensery.terminal.explain import cell
from condensery.terminal.opening import opened
from condensery.terminal.options import Options
from condensery.terminal.output import out
from condensery.terminal.running import Code


async def show_agents(options: Options, *, as_json: bool) -> Code:
    """List the agents; opening the app has checked them."""
    async with opened(options.settings()) as app:
        rows = [_row(DEFAULT, Profile(), app.services)]
        rows += [_row(name, profile, app.services_of(name)) for name, profile in app.settings.agents.items()]
    if as_json:
        out.write(json.dumps(rows, indent=2, ensure_ascii=False) + "\n")
        return Code.OK
    table = Table("agent", "kind", "model", "engine", "method", "namespaces", "locale", "what it is for")
    for row in rows:
        shown = row | {"namespaces": ", ".join(row["namespaces"]) or "all"}
        table.add_row(*(cell(shown[name] or "–") for name in row))
    out.print(table)
    return Code.OK


def _row(name: str, profile: Profile, services: Services) -> dict[str, Any]:
    settings, searches = services.settings, profile.kind in ("rag", "expert_rag")
    return {
        "name": name,
        "kind": profile.kind,
        "model": services.model.name if services.model else None,
        "engine": settings.condense.engine,
        "method": services.plan().name if searches else None,
        "namespaces": list(profile.namespaces),
        "locale": settings.locale,
        "description": profile.description,
    }


async def show_label(text: str, options: Options, *, agent: str, as_json: bool) -> Code:
    """Print the label of `text`, how sure it is, and the examples that decided."""
    async with opened(options.settings()) as app:
        found = await app.classify(text, agent=agent)
        if as_json:
            out.write(found.model_dump_json(indent=2, exclude={"stages"}) + "\n")
        else:
            _tell(found, app)
    return Code.REFUSED if found.label is None else Code.OK


def _tell(found: Classified, app: App) -> None:
    if found.label is None:
        out.say(app.services.prompts.text(f"refusal.{found.reason}"))
        return
    out.say(f"{found.label} ({found.confidence:.0%}{'' if found.clear else ', not clear'})")
    for neighbour in found.neighbours:
        out.say(f"  {neighbour.similarity:.2f} {neighbour.label}: {neighbour.text}", style="dim")
