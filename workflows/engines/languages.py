"""Whether two texts are surely in different languages; where that is not sure, they are not."""

import unicodedata
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

SURE = 0.8
"""How likely the language of the rewrite must be; it is a whole question, and long enough for that."""
LIKELY = 0.2
"""How likely the message's own language must be at least: single words are often taken for Latin or a Creole."""
UNLIKELY = 0.2
"""How likely the rewrite's language may be at most as that of the message, compared to the message's own."""
MOST_FOREIGN = 0.5
"""Share of letters in a script that the message does not use, from which on a rewrite is in another script."""
_SCRIPTS = {"HIRAGANA": "CJK", "KATAKANA": "CJK", "IDEOGRAPHIC": "CJK", "FULLWIDTH": "LATIN", "HALFWIDTH": "CJK"}


def differ(message: str, rewrite: str, earlier: str = "") -> bool:
    """Whether `rewrite` is surely in another language than `message`; names in a third one do not count.

    `earlier` is what the same person said before: it decides when the message is too short to.

    Different scripts are certain. Otherwise py3langid decides (139 languages, 4.5 MB, no network); the first call
    reads its model, about 0.7 s. Blocks: call it off the event loop.
    """
    own_scripts, scripts = _scripts(message), _scripts(rewrite)
    if not own_scripts or not scripts:
        return False
    if _is_other_script(own_scripts, scripts):
        return True
    first, second = likelihoods(message), likelihoods(rewrite)
    other = _best(second)
    if second[other] < SURE or first[other] > UNLIKELY * first[_best(first)]:
        return False
    own = first if first[_best(first)] >= LIKELY else likelihoods(f"{earlier} {message}")
    return _best(own) != other and own[_best(own)] >= LIKELY


def load() -> None:
    """Read the model, so that the first comparison does not have to. Blocks."""
    _identifier()


def _is_other_script(own: Counter[str], other: Counter[str]) -> bool:
    foreign = sum(count for script, count in other.items() if script not in own)
    lost = sum(count for script, count in own.items() if script not in other)
    return foreign > MOST_FOREIGN * other.total() or (lost > MOST_FOREIGN * own.total() and foreign > 0)


def _scripts(text: str) -> Counter[str]:
    """Letters by script, as Unicode names them; the scripts that one language mixes are one."""
    names = (unicodedata.name(letter, "").split(" ")[0] for letter in text if letter.isalpha())
    return Counter(_SCRIPTS.get(name, name) for name in names)


def mostly_latin(text: str) -> bool:
    """Whether at least half of the letters of `text` are Latin ones; False without letters."""
    scripts = _scripts(text)
    return bool(scripts) and 2 * scripts["LATIN"] >= scripts.total()


def likelihoods(text: str) -> dict[str, float]:
    """How likely `text` is in each of 139 languages, by code. Blocks at its first call."""
    return {language: float(share) for language, share in _identifier().rank(text)}


def _best(likelihoods: dict[str, float]) -> str:
    return max(likelihoods, key=likelihoods.__getitem__)


@cache
def _identifier() -> "LanguageIdentifier":
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
