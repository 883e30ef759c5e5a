"""Results of `condensery eval guards` as tables."""

from rich.table import Table

from condensery.evals.guards import ANSWERED_LABELS, Detection, GuardResult, GuardRow
from condensery.terminal.explain import cell
from condensery.terminal.output import out


def show_guards(result: GuardResult, *, misses: bool = False) -> None:
    """Print what was told insufficient, what became of each label, and how often all documents were found."""
    out.print(figures(result))
    out.print(outcomes(result))
    if found := result.documents:
        out.say(
            f"all documents found, of {found.questions} questions that need several: {found.one_search:.3f} with one "
            f"search, {found.with_hops:.3f} with hops"
        )
    for row in result.rows if misses else ():
        if wrong := what_is_wrong(row):
            out.say(f"{wrong}: {row.question} ({row.note or row.reason})")


def figures(result: GuardResult) -> Table:
    """Precision and recall of insufficient, by refusals alone and with answers that make a reservation."""
    broken_off = "" if result.complete else f", broken off after {len(result.rows)} questions"
    table = Table(title=f"{result.data}: insufficient{broken_off}", title_justify="left")
    table.add_column("language", no_wrap=True)
    for name in ("questions", "told by", "precision", "recall", "false"):
        table.add_column(name, justify="right", no_wrap=True)
    for name, refused in result.refused.items():
        table.add_row(cell(name), f"{refused.questions}", "refusal", *shares(refused))
        table.add_row("", "", "or reservation", *shares(result.held_back[name]))
    return table


def shares(found: Detection) -> list[str]:
    """The three shares; a dash for a share of nothing."""
    return ["–" if value is None else f"{value:.3f}" for value in (found.precision, found.recall, found.false_refusals)]


def outcomes(result: GuardResult) -> Table:
    """How questions of each label ended."""
    table = Table()
    table.add_column("label", no_wrap=True)
    for name in ("refused", "reservation", "answered"):
        table.add_column(name, justify="right", no_wrap=True)
    for label, counts in result.labels.items():
        table.add_row(label, *(f"{count}" for count in counts.values()))
    return table


def what_is_wrong(row: GuardRow) -> str:
    """What went wrong with a question; "" when nothing did."""
    if row.refused and row.label in ANSWERED_LABELS:
        return "refused"
    return "" if row.held_back or row.label in ANSWERED_LABELS else "answered"
