"""How a drawing looks: one set of rules for bright and dark, on screens and on paper."""

from collections.abc import Mapping
from types import MappingProxyType

from condensery.workflows.drawing.graph import Tone

MONO = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace'
SANS = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif'

Colours = Mapping[str, str]

BRIGHT: Colours = MappingProxyType(
    {
        "paper": "#ffffff",
        "ink": "#0f172a",
        "faint": "#526077",
        "bar": "#0f172a",
        "own": "#c2570c",
        "own-fill": "#c2570c",
        "own-text": "#ffffff",
        "own-step": "#fff4e8",
        "question": "#0b72b9",
        "question-fill": "#e3f2fd",
        "question-text": "#0a4f80",
        "question-step": "#ffffff",
        "neither": "#64748b",
        "neither-fill": "#f1f5f9",
        "neither-text": "#334155",
        "neither-step": "#ffffff",
    }
)

DARK: Colours = MappingProxyType(
    {
        "paper": "#0f1420",
        "ink": "#e8edf5",
        "faint": "#9aa8bd",
        "bar": "#e8edf5",
        "own": "#f59e4b",
        "own-fill": "#f59e4b",
        "own-text": "#1f1206",
        "own-step": "#33210f",
        "question": "#5cb8f5",
        "question-fill": "#10314a",
        "question-text": "#d3ebfd",
        "question-step": "#182031",
        "neither": "#8a99b0",
        "neither-fill": "#232d3f",
        "neither-text": "#d5dce7",
        "neither-step": "#182031",
    }
)


def stylesheet() -> str:
    """The rules of a drawing, dark where that is wanted; paper is always bright."""
    return f"{SHAPE}{_coloured(BRIGHT)}@media screen and (prefers-color-scheme:dark){{{_coloured(DARK)}}}"


SHAPE = (
    f".drawing text{{font-family:{SANS};text-anchor:middle}}"
    f".drawing .name{{font-family:{MONO};font-size:12px}}"
    ".drawing .step .name{font-weight:600}.drawing .event .name{font-size:11px}"
    ".drawing .time{font-size:10.5px}.drawing .idle{opacity:.4}"
    ".drawing .title{font-size:20px;font-weight:700;text-anchor:start}"
    ".drawing .note{font-size:12px;text-anchor:start}"
    ".drawing .step rect,.drawing .event rect{stroke-width:1.5}"
    ".drawing .line{fill:none;stroke-width:1.7;stroke-linejoin:round}"
    ".drawing .halo{fill:none;stroke-width:6;stroke-linecap:butt}"
    ".drawing .loop{stroke-dasharray:5 4}"
    ".drawing .line,.drawing .tip{transition:opacity .12s}"
    ".drawing .node:focus{outline:none}"
    ".drawing .node:is(:hover,:focus-visible) rect.body{stroke-width:2.5}"
)


def _coloured(colours: Colours) -> str:
    plain = (
        ".drawing .paper{fill:%(paper)s}.drawing .halo{stroke:%(paper)s}.drawing text{fill:%(ink)s}"
        ".drawing .note,.drawing .time{fill:%(faint)s}.drawing .bar{fill:%(bar)s}"
    ) % colours
    return plain + "".join(_tone(tone, colours) for tone in Tone)


def _tone(tone: Tone, colours: Colours) -> str:
    return (
        f".drawing .{tone} .line,.drawing .{tone} .body{{stroke:{colours[tone]}}}"
        f".drawing .{tone} .tip{{fill:{colours[tone]}}}"
        f".drawing .event.{tone} .body{{fill:{colours[f'{tone}-fill']}}}"
        f".drawing .event.{tone} .name{{fill:{colours[f'{tone}-text']}}}"
        f".drawing .step.{tone} .body{{fill:{colours[f'{tone}-step']}}}"
    )
