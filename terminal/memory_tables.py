"""Results of `condensery eval memory` as tables."""

from rich.table import Table

from condensery.evals.memory_results import MemoryGroup, MemoryResult, MemorySystem, Unrecalled
from condensery.terminal.explain import cell
from condensery.terminal.output import err, out

COLUMNS = ("precision", "recall", "R@5", "R@5 of kept", "resolved", "junk / 100")


def show_memory(result: MemoryResult, *, misses: bool = False) -> None:
    """Print a table per system, and on stderr what was left out; `misses`: everything that went wrong, too."""
    for system in result.systems:
        out.print(figures(result, system))
        for cause, count in system.causes.items():
            out.say(f"{system.name}: {count} × {cause}")
        for row in system.rows:
            for failure in row.failures:
                err.say(f"{system.name}: {row.file}, {failure}", style="yellow")
        if misses:
            show_misses(system)
    for skipped in result.skipped:
        err.say(f"not measured: {skipped.name}: {skipped.reason}", style="yellow")


def figures(result: MemoryResult, system: MemorySystem) -> Table:
    """One row per language and half; turns that state nothing are counted, for junk is per hundred of them."""
    broken_off = "" if system.complete else f", broken off after {len(system.rows)} dialogues"
    title = f"{result.data}: {system.name} ({system.extraction}){broken_off}"
    table = Table(title=title, title_justify="left")
    table.add_column("dialogues", no_wrap=True)
    for name in ("", "turns", "facts", *COLUMNS):
        table.add_column(name, justify="right", no_wrap=True)
    for name, group in system.groups.items():
        counts = (f"{group.dialogues}", f"{group.turns}", f"{group.facts}")
        table.add_row(cell(name), *counts, *shares(group))
    return table


def shares(group: MemoryGroup) -> list[str]:
    """The figures of a group under `COLUMNS`; a dash for a share of nothing."""
    resolved = "–" if group.resolved is None else f"{group.resolved:.2f} of {group.superseded}"
    junk = "–" if group.junk_per_100 is None else f"{group.junk_per_100:.1f} ({group.free_turns})"
    found = (group.precision, group.recall, group.recall_at_5, group.recall_at_5_of_kept)
    return [*("–" if value is None else f"{value:.3f}" for value in found), resolved, junk]


def show_misses(system: MemorySystem) -> None:
    """Everything that is missing, too much, or not recalled, by dialogue; held out is held out here, too."""
    for row in (row for row in system.rows if not row.held_out):
        lines = [
            *(f"missing, {each.cause}: {each.fact}{_from(each.question)}{_near(each.nearest)}" for each in row.missing),
            *(f"too much, {each.cause}: {each.text}{_from(each.message)}" for each in row.extra),
            *(f"{_unrecalled(each)}: {each.fact}{_from(each.ask)}" for each in row.unrecalled),
            *(f"still there: {fact}" for fact in row.unresolved),
        ]
        for line in lines:
            out.say(f"{row.file}: {line}")
    if hidden := sum(row.held_out for row in system.rows):
        out.say(f"{system.name}: what went wrong in {hidden} dialogues that are held out is only in --json")


def _unrecalled(each: Unrecalled) -> str:
    return "not recalled" if each.kept else "not recalled, for it is not kept"


def _from(text: str | None) -> str:
    return f" ← {' '.join(text.split())}" if text else ""


def _near(text: str | None) -> str:
    return f" (kept: {text})" if text else ""
