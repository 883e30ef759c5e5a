"""Questions about the person themselves, which a recalled fact answers in full: "Where do I live?"."""

import re
from collections.abc import Sequence

from condensery.memory.types import Remembered
from condensery.workflows.engines.wording import Vocabulary, content_words, numbers

_FIRST_PERSON = re.compile(
    r"\b(?:i|me|my|mine|ich|mich|mir|mein\w{0,2}|je|j|moi|mon|ma|mes|me|m|io|mi|mio|mia|miei|mie|sono|ho)\b",
    re.IGNORECASE,
)


def told(question: str, memories: Sequence[Remembered]) -> Remembered | None:
    """The first of the person's own facts that says everything `question` names, when it asks about the person.

    "Where do I live?" is answered by "I live in Oslo."; "What notice period applies to me?" by no fact that does not
    name one.
    """
    words = content_words(question)
    if not words or not _FIRST_PERSON.search(question):
        return None
    own = (memory for memory in memories if memory.kind == "user")
    return next((memory for memory in own if _says(memory, words, numbers(question))), None)


def _says(memory: Remembered, words: Sequence[str], wanted: set[str]) -> bool:
    said = Vocabulary(f"{memory.text} {memory.slot or ''}")
    return all(map(said.has, words)) and wanted <= numbers(memory.text)
