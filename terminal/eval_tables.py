"""Results of `condensery eval` as tables."""

from rich.table import Table

from condensery.evals.results import Configuration, Result
from condensery.terminal.explain import cell
from condensery.terminal.output import err, out

COLUMNS = ("ndcg@10", "hit@1", "recall@1", "recall@3", "recall@5", "mrr")
STAGES = ("read_ahead", "before_search", "condense", "hypothesize", "retrieve", "rerank", "first_token")


def headline(result: Result) -> str:
    """The metric that a table by kinds shows."""
    return "ndcg@10" if result.score == "ndcg@10" else "recall@1"


def show(result: Result) -> None:
    """Print the tables, and on stderr what was left out."""
    if result.configurations:
        out.print(overall(result))
        out.print(by_group(result))
        out.print(times(result))
    for name, waits in (result.latency or {}).items():
        if ratio := waits.get("ratio_to_peer"):
            out.say(
                f"{name}: first piece of the answer to {waits['turns']} follow-ups after {ratio['of_medians']} of the "
                f"peer's time (ratio of the medians; median over turns: {ratio['median_of_turns']})"
            )
    for each in result.configurations:
        for what, counts in (("fallback", each.fallbacks), ("degraded", each.degraded)):
            for reason, count in sorted(counts.items()):
                out.say(f"{each.name}: {what} in {count} of {len(each.rows)} turns: {reason}")
    for skipped in result.skipped:
        err.say(f"not measured: {skipped.name}: {skipped.reason}", style="yellow")
    for warning in result.warnings:
        err.say(f"warning: {warning}", style="yellow")


def overall(result: Result) -> Table:
    """One row per engine and method: the means over all turns."""
    turns = max(len(each.rows) for each in result.configurations)
    table = Table(title=f"{result.data}: {turns} turns", title_justify="left")
    table.add_column("engine", no_wrap=True)
    table.add_column("method", no_wrap=True)
    for name in ("nDCG@10", "95 %", "hit@1", "R@1", "R@3", "R@5", "MRR", "harm", "better", "as it is"):
        table.add_column(name, justify="right", no_wrap=True)
    for each in result.configurations:
        group = each.groups["all"]
        ndcg, *others = (f"{group.metrics[name]:.3f}" for name in COLUMNS)
        bounds = "–".join(f"{bound:.2f}" for bound in group.interval) if result.score == "ndcg@10" else "–"
        shares = (share(group.harm), share(group.better), share(each.unchanged))
        table.add_row(cell(marked(each)), cell(each.method), ndcg, bounds, *others, *shares)
    return table


def by_group(result: Result) -> Table:
    """One row per group of turns, one column per engine and method: the headline metric and the harm."""
    metric = headline(result)
    table = Table(title=f"{metric} / harm in %, by kind of turn", title_justify="left")
    table.add_column("turns", no_wrap=True)
    table.add_column("", justify="right", no_wrap=True)
    for each in result.configurations:
        table.add_column(cell(f"{each.engine}\n{each.method}"), justify="right")
    for name in dict.fromkeys(name for each in result.configurations for name in each.groups):
        groups = [each.groups.get(name) for each in result.configurations]
        turns = max(group.turns for group in groups if group)
        figures = (f"{group.metrics[metric]:.3f} / {percent(group.harm)}" if group else "–" for group in groups)
        table.add_row(cell(name.replace("_", " ").replace("+", " + ")), f"{turns}", *figures)
    return table


def times(result: Result) -> Table:
    """One row per engine and method: p50 and p95 of the stages; turns may run side by side."""
    table = Table(
        title="milliseconds, p50 / p95" + ("" if result.latency else "; some turns run side by side"),
        title_justify="left",
    )
    table.add_column("engine", no_wrap=True)
    table.add_column("method", no_wrap=True)
    stages = [stage for stage in STAGES if any(stage in each.ms for each in result.configurations)]
    for stage in stages:
        table.add_column(stage.replace("_", " "), justify="right", no_wrap=True)
    for each in result.configurations:
        found = [each.ms.get(stage) for stage in stages]
        cells = [f"{ms['p50']:.1f} / {ms['p95']:.1f}" if ms else "–" for ms in found]
        table.add_row(cell(marked(each)), cell(each.method), *cells)
    return table


def marked(each: Configuration) -> str:
    """The engine's name, and whether its measurement was broken off."""
    return each.engine if each.complete else f"{each.engine} ({len(each.rows)} turns)"


def share(value: float | None) -> str:
    """A share in per cent, with its sign."""
    return "–" if value is None else f"{percent(value)} %"


def percent(value: float | None) -> str:
    """A share in per cent."""
    return "–" if value is None else f"{100 * value:.1f}"
