"""Whether two texts are surely in different languages; where that is not sure, they are not."""

import unicodedata
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

SURE = 0.8
"""How likely the language of the rewrite must be; it is a whole question, and long enough for that."""
UNLIKELY = 0.1
"""How much likelier than the rewrite's language the message's own must be: a tenth and less is another language."""
MOST_FOREIGN = 0.5
"""Share of letters in a script that the message does not use, from which on a rewrite is in another script."""
_SCRIPTS = {"HIRAGANA": "CJK", "KATAKANA": "CJK", "IDEOGRAPHIC": "CJK", "FULLWIDTH": "LATIN", "HALFWIDTH": "CJK"}


def differ(message: str, rewrite: str) -> bool:
    """Whether `rewrite` is surely in another language than `message`; names in a third one do not count.

    Different scripts are certain. Otherwise py3langid decides (139 languages, 4.5 MB, no network); the first call
    reads its model, about 0.7 s. Blocks: call it off the event loop.
    """
    if _other_script(message, rewrite):
        return True
    first, second = _likelihoods(message), _likelihoods(rewrite)
    own, other = max(first, key=first.__getitem__), max(second, key=second.__getitem__)
    return own != other and second[other] >= SURE and first[other] <= UNLIKELY * first[own]


def _other_script(message: str, rewrite: str) -> bool:
    own, other = _scripts(message), _scripts(rewrite)
    foreign = sum(count for script, count in other.items() if script not in own)
    lost = sum(count for script, count in own.items() if script not in other)
    return foreign > MOST_FOREIGN * other.total() or (lost > MOST_FOREIGN * own.total() and foreign > 0)


def _scripts(text: str) -> Counter[str]:
    """Letters by script, as Unicode names them; the scripts that one language mixes are one."""
    names = (unicodedata.name(letter, "").split(" ")[0] for letter in text if letter.isalpha())
    return Counter(_SCRIPTS.get(name, name) for name in names)


def _likelihoods(text: str) -> dict[str, float]:
    return {language: float(share) for language, share in _identifier().rank(text)}


@cache
def _identifier() -> "LanguageIdentifier":
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
