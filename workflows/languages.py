"""The language that a person writes in, of those that there are texts for. The first call reads a model."""

import re
from collections.abc import Sequence

from condensery.memory.languages import everyday_share
from condensery.prompts.locales import LOCALES
from condensery.workflows.engines.languages import likelihoods, mostly_latin

SURE = 0.9
"""How likely a language must be by its letters for its words not to be asked."""
FOREIGN = 0.9
"""How likely a language that there are no texts for must be to be taken for one."""
CLEAR = 1.5
"""How much greater the share of everyday words of a language must be than that of the next."""
READ = 600
"""Characters of a message that are looked at, from its beginning and from its end."""

_QUOTED = re.compile(r"\"[^\"]{8,}\"|“[^”]{8,}”|„[^“”]{8,}[“”]|«[^»]{8,}»|(?<!\w)'[^']{8,}'(?!\w)")
"""What is quoted, such as a text to translate, is in whatever language."""


def spoken(message: str, earlier: Sequence[str] = (), default: str = "en") -> str:
    """The locale whose language `message` is in; where that is not clear, the one that was spoken before.

    `earlier`: what the same person wrote before, oldest first. `default`: for a language that there are no texts for,
    and where nothing tells. py3langid judges by letters (no network; the first call reads its model, about 0.7 s), and
    everyday words ("and", "und") decide about short messages.
    """
    for text in (message, *reversed(earlier)):
        if (found := _told_by(_ends(_QUOTED.sub(" ", text)))) is not None:
            return found if found in LOCALES else default
    return default


def _told_by(text: str) -> str | None:
    """The code of the language that `text` is clearly in, "" for another script; None when nothing tells."""
    if not mostly_latin(text):
        return "" if any(letter.isalpha() for letter in text) else None
    shares = sorted(((everyday_share(locale, text), locale) for locale in LOCALES), reverse=True)
    (best, by_words), (second, _) = shares[:2]
    likely = likelihoods(text)
    by_letters = max(likely, key=likely.__getitem__)
    if by_letters in LOCALES and (likely[by_letters] >= SURE or by_letters == by_words):
        return by_words if best > CLEAR * everyday_share(by_letters, text) else by_letters
    if best and best >= CLEAR * second:
        return by_words
    if by_letters not in LOCALES and likely[by_letters] >= FOREIGN and not best:
        return by_letters
    return None


def _ends(text: str) -> str:
    return text if len(text) <= 2 * READ else f"{text[:READ]} {text[-READ:]}"
