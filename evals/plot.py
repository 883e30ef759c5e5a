"""Results as a picture: quality beside harm, one bar per engine and method. Needs the extra `evals`."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from condensery.errors import ConfigError
from condensery.evals.results import Configuration, Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GROUPS = ("all", "follow_ups", "standalone+topic_shift")
FORMATS = (".svg", ".png", ".pdf")


def plot(results: Sequence[Result], file: Path) -> None:
    """Draw one row of two panels per result. Raises `ConfigError` without matplotlib, or for an unknown format."""
    check(file)
    import matplotlib
    from matplotlib.figure import Figure

    shown = [result for result in results if result.configurations]
    heights = [1.1 + 0.26 * len(bars(result)) for result in shown]
    figure = Figure(figsize=(9, sum(heights)), layout="constrained")
    panels = figure.subplots(len(shown), 2, squeeze=False, height_ratios=heights, sharey="row")
    for (left, right), result in zip(panels, shown, strict=True):
        _quality(left, result)
        _harm(right, result)
    # Neither a date nor ids by chance: the same result gives the same file.
    with matplotlib.rc_context({"svg.hashsalt": "condensery", "svg.fonttype": "none"}):
        try:
            figure.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None)
        except OSError as error:
            raise ConfigError(f"cannot write {file}: {error.strerror}") from error


def check(file: Path) -> None:
    """Raise `ConfigError` when no plot can be written to `file`."""
    if file.suffix.lower() not in FORMATS:
        raise ConfigError(f"cannot draw '{file.name}'; its name must end in {', '.join(FORMATS)}")
    if find_spec("matplotlib") is None:
        raise ConfigError("a plot needs matplotlib; pip install 'condensery[evals]'")


def metric_of(result: Result) -> str:
    """What the bars show."""
    return "ndcg@10" if result.score == "ndcg@10" else "recall@1"


def bars(result: Result) -> list[tuple[Configuration, str]]:
    """A bar per configuration and group of turns, from the top."""
    return [(each, group) for each in result.configurations for group in GROUPS if group in each.groups]


def _quality(axes: "Axes", result: Result) -> None:
    metric = metric_of(result)
    shown = bars(result)
    values = [each.groups[group].metrics[metric] for each, group in shown]
    spread = [each.groups[group].interval for each, group in shown] if result.score == metric else None
    _bars(axes, shown, values, "{:.3f}", spread)
    axes.set_title(f"{result.data}: {metric.replace('ndcg', 'nDCG')}", loc="left", fontsize=10)
    axes.set_xlim(0, 1.12)


def _harm(axes: "Axes", result: Result) -> None:
    shown = bars(result)
    values = [100 * (each.groups[group].harm or 0) for each, group in shown]
    _bars(axes, shown, values, "{:.1f} %", None)
    axes.set_title("found worse than with the raw message", loc="left", fontsize=10)
    axes.set_xlim(0, max([5.0, *values]) * 1.2)


def _bars(
    axes: "Axes",
    shown: list[tuple[Configuration, str]],
    values: list[float],
    form: str,
    spread: list[tuple[float, float]] | None,
) -> None:
    places = range(len(shown))
    colours = [{"all": "#33658a", "follow_ups": "#86bbd8"}.get(group, "#c9cba3") for _, group in shown]
    axes.barh(places, values, color=colours, height=0.72)
    for place, value in zip(places, values, strict=True):
        axes.annotate(
            form.format(value), (value, place), xytext=(4, 0), textcoords="offset points", va="center", size=8
        )
    if spread:
        errors = [[value - low for value, (low, _) in zip(values, spread, strict=True)],
                  [high - value for value, (_, high) in zip(values, spread, strict=True)]]  # fmt: skip
        axes.errorbar(values, places, xerr=errors, fmt="none", ecolor="#222222", elinewidth=0.8, alpha=0.6)
    names = [f"{each.name}" + ("" if group == "all" else f" ({group.replace('_', ' ')})") for each, group in shown]
    axes.set_yticks(list(places), names, fontsize=8)
    axes.tick_params(axis="x", labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    if not axes.yaxis_inverted():
        axes.invert_yaxis()
