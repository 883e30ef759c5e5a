"""Opening what is remembered for a command, without a language model, and saying it in a table or as JSON."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rich.table import Table

from condensery.errors import ConfigError
from condensery.memory.control import MemoryControl
from condensery.memory.days import is_over
from condensery.memory.types import Fact
from condensery.retrieval.types import Frozen
from condensery.settings import Settings
from condensery.settings_live import LiveSettings
from condensery.storage.database import open_database
from condensery.storage.memory import MemoryUsers
from condensery.storage.outbox import OutboxRepository
from condensery.storage.proposals import ProposalRepository
from condensery.storage.settings import SettingsRepository
from condensery.terminal.explain import cell
from condensery.terminal.lazy_memory import LazyMemory
from condensery.terminal.options import Options
from condensery.terminal.output import out
from condensery.terminal.spinner import spinning

NARROW = 80
"""Columns; with fewer, a table of facts would have hardly any room for what they say."""


@dataclass(frozen=True)
class Remembering:
    """What a command works with: the memory's controls, and whom it is about where nobody is named."""

    control: MemoryControl
    settings: Settings
    memory: LazyMemory

    def user(self, named: str | None) -> str:
        """The user of the command line, else that of the settings."""
        return self.settings.memory.user if named is None else named

    def organization(self, named: str | None) -> str:
        """The organization of the command line, else that of the settings; raises `ConfigError` when there is none."""
        organization = self.settings.memory.organization if named is None else named
        if organization is None:
            raise ConfigError("which organization? add --organization ID, or set memory.organization")
        return organization


@asynccontextmanager
async def remembering(options: Options) -> AsyncIterator[Remembering]:
    """The controls over the database of the settings."""
    async with AsyncExitStack() as stack:
        with spinning("Opening…"):
            given = options.settings()
            database = await stack.enter_async_context(open_database(given))
            settings = await LiveSettings(given, SettingsRepository(database)).current()
        memory = LazyMemory(stack, database, settings)
        control = MemoryControl(
            memory,
            users=MemoryUsers(database),
            outbox=OutboxRepository(database),
            proposals=ProposalRepository(database),
            settings=settings.memory,
        )
        yield Remembering(control, settings, memory)


def as_json(value: Any) -> str:
    """JSON on lines of its own; models by their fields."""
    return json.dumps(value, indent=2, ensure_ascii=False, default=_plain) + "\n"


def show_facts(facts: Sequence[Fact], *, history: bool) -> None:
    """A table of facts; with `history`, whether each still holds. In a narrow terminal, two lines for each."""
    if out.width < NARROW:
        for fact in facts:
            out.print(cell(fact.text))
            out.say("  ".join(["", fact.id[:8], moment(fact.said_at), *([state_of(fact)] if history else [])]))
        return
    table = Table("id", "fact")
    table.columns[0].no_wrap = True
    for name in ("said", "state") if history else ("said",):
        table.add_column(name, no_wrap=True)
    for fact in facts:
        state = [state_of(fact)] if history else []
        table.add_row(fact.id, cell(fact.text), moment(fact.said_at), *state)
    out.print(table)


def state_of(fact: Fact) -> str:
    """Whether a fact still holds, in a word."""
    if fact.superseded_by or fact.superseded_at:
        return "superseded"
    return "expired" if is_over(fact.expires_on) else "holds"


def moment(when: datetime | None) -> str:
    """A time as this machine's clock shows it; nothing for none."""
    return when.astimezone().strftime("%Y-%m-%d %H:%M") if when else ""


def _plain(value: Any) -> Any:
    if isinstance(value, Frozen):
        return value.model_dump(mode="json", exclude={"score"} if isinstance(value, Fact) else None)
    raise TypeError(f"{type(value).__name__} is no JSON")
