"""The step visualizer: any workflow class as a web page, an SVG or Mermaid text, each complete in itself."""

from collections.abc import Mapping
from typing import Literal

from llama_index.core.workflow import Workflow

from condensery.errors import UnknownName
from condensery.workflows.drawing.graph import graph_of
from condensery.workflows.drawing.mermaid import mermaid_of
from condensery.workflows.drawing.page import page_of
from condensery.workflows.drawing.svg import svg_of

Format = Literal["html", "svg", "mermaid"]
FORMATS: tuple[Format, ...] = ("html", "svg", "mermaid")


def draw(workflow: type[Workflow], *, format: Format, times: Mapping[str, float] | None = None) -> str:
    """The graph of `workflow` in the given format, read off the class; nothing is run, written or loaded.

    `times`, in milliseconds by step, are written on the steps, except in Mermaid text. Raises `UnknownName` for
    another format, and `ConfigError` for a class without steps.
    """
    graph = graph_of(workflow)
    match format:
        case "html":
            return page_of(graph, times=times)
        case "svg":
            return svg_of(graph, times=times)
        case "mermaid":
            return mermaid_of(graph)
    raise UnknownName("drawing format", format, list(FORMATS))
