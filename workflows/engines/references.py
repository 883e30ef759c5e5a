"""Whether a message leans on what went before: pronouns, ellipsis and short forms, by locale."""

from dataclasses import dataclass
from functools import cache

from condensery.prompts.loader import prompts_for
from condensery.prompts.locales import LOCALES
from condensery.workflows.engines.wording import content_words, folded, numbers
from condensery.workflows.phrases import bare

FEW_WORDS = 2
"""A message of this many content words or fewer names too little to be searched for alone."""

SHORT = 5
"""A message of this many content words or fewer is elliptical when it goes on from something ("And on Sundays?")."""

SAYS_ENOUGH = 4
"""A message of more content words than this, without a reference, stands alone."""

OWN_SUBJECT = 4
"""A pronoun after this many content words stands for something in the message itself."""

REFERRING, SHORT_FORM = 3.0, 2.5
"""Content words up to which the turns before count in full, for a message that refers to them and for one that is
merely short; with more words they count less, since the message says more itself."""


@dataclass(frozen=True)
class Cues:
    """Reference words, as `bare` gives them."""

    pronouns: frozenset[str]
    determiners: frozenset[str]
    openers: frozenset[str]
    corrections: frozenset[str]
    expletives: tuple[str, ...]


def depends(message: str, cues: Cues) -> bool:
    """Whether `message` cannot be understood without the turns before it."""
    words = f" {bare(message)} "
    for expletive in cues.expletives:
        words = words.replace(f" {expletive} ", " ")
    if _refers(words.split(), cues) or _opens_with(words.split(), cues.corrections):
        return True
    size = size_of(message)
    return size <= FEW_WORDS or (size <= SHORT and _opens_with(words.split(), cues.openers))


def leaning(message: str, cues: Cues) -> float:
    """How much the turns before a message count in a search for it, from 0 (it stands alone) to 1."""
    size = max(size_of(message), 1)
    if depends(message, cues):
        return min(1.0, REFERRING / size)
    return min(1.0, SHORT_FORM / size) if size <= SAYS_ENOUGH else 0.0


def size_of(message: str) -> int:
    """How many different things `message` says: its content words and numbers."""
    return len({folded(word) for word in content_words(message)} | numbers(message))


def _refers(words: list[str], cues: Cues) -> bool:
    named: set[str] = set()
    for word, after in zip(words, [*words, ""][1:], strict=True):
        if word in cues.pronouns and not (word in cues.determiners and content_words(after)):
            return True
        named.update(map(folded, content_words(word)))
        if len(named) >= OWN_SUBJECT:
            return False
    return False


def _opens_with(words: list[str], phrases: frozenset[str]) -> bool:
    return any(" ".join(words[:length]) in phrases for length in (1, 2, 3, 4))


def cues_for(message: str, locale: str) -> Cues:
    """The cues of the locale most of whose reference words `message` uses; of `locale` when that is undecided."""
    words = bare(message).split()

    def uses(candidate: str) -> tuple[int, bool]:
        cues = cues_of(candidate)
        return sum(word in cues.pronouns or word in cues.openers for word in words), candidate == locale

    return cues_of(max(LOCALES, key=uses))


@cache
def cues_of(locale: str) -> Cues:
    """The cues of one locale."""
    table = prompts_for(locale).references
    return Cues(
        pronouns=frozenset(map(bare, table["pronouns"])),
        determiners=frozenset(map(bare, table["determiners"])),
        openers=frozenset(map(bare, table["openers"])),
        corrections=frozenset(map(bare, table["corrections"])),
        expletives=tuple(map(bare, table["expletives"])),
    )
