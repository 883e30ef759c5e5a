"""Questions about the person themselves, which one of their facts answers in full: "Where do I live?".

How they are put stands in `prompts/<locale>/own_questions.toml`. What asks for anything else, such as what the person
may or has to do, is a question to the documents, whatever they said of themselves.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from condensery.memory.types import Remembered
from condensery.prompts.loader import prompts_for
from condensery.prompts.locales import LOCALES
from condensery.workflows.engines.wording import Vocabulary, content_words

MY = "my:"
"""Begins the slots of what is somebody's own: their dog, their customer number."""

_AROUND = " .!?,;:…\u00a0\u202f"


class OwnQuestion(NamedTuple):
    """What a question asks for: slots, and the words for the thing, when it names one."""

    slots: tuple[str, ...]
    thing: str


def told(question: str, memories: Sequence[Remembered]) -> Remembered | None:
    """The first of the person's own facts that is what `question` asks for, when it asks for nothing else."""
    own = [memory for memory in memories if memory.kind == "user"]
    for asked in _asked(question) if own else ():
        if found := next((memory for memory in own if _is_it(memory, asked)), None):
            return found
    return None


def is_about_oneself(question: str) -> bool:
    """Whether `question` asks for a fact about whoever asks, and for nothing else."""
    return next(_asked(question), None) is not None


def _asked(question: str) -> Iterator[OwnQuestion]:
    plain = " ".join(question.replace("’", "'").split()).strip(_AROUND)
    for pattern, slots in _patterns():
        if found := pattern.fullmatch(plain):
            yield OwnQuestion(slots, found.groupdict().get("thing") or "")


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]:
    tables = (row for locale in LOCALES for row in prompts_for(locale).own_questions)
    return tuple((re.compile(row["pattern"], re.IGNORECASE), tuple(row["slots"])) for row in tables)


def _is_it(memory: Remembered, asked: OwnQuestion) -> bool:
    slot = memory.slot or ""
    if not asked.thing:
        return slot in asked.slots
    words = content_words(asked.thing)
    said = Vocabulary(f"{memory.text} {slot.removeprefix(MY)}")
    return slot.startswith(MY) and bool(words) and all(map(said.has, words))
