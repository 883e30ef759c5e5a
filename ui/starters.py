"""Questions to begin with, when the documents are the examples that come with the project."""

from collections.abc import Iterable

from condensery.ui.passages import file_name

EXAMPLES: dict[str, str] = {
    "hotel-guest-guide.md": "When is the sauna open?",
    "tariffs.md": "What does a bicycle cost?",
    "press-release.md": "What is new on the roof of the lower station?",
}
"""A file of `examples/docs`, and a question that it answers and that invites a follow-up."""


def questions_for(sources: Iterable[str]) -> list[str]:
    """The questions, when every file they are about is among `sources`; else none."""
    names = {file_name(source) for source in sources}
    return list(EXAMPLES.values()) if names.issuperset(EXAMPLES) else []
