"""The style sheets that lie beside this module."""

from functools import cache
from importlib.resources import files


@cache
def stylesheet(name: str) -> str:
    """The text of the style sheet `name`, such as "drawing.css"."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
