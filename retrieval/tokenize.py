"""Words as lexical search sees them: the same terms for chunks, questions and the extractive answerer."""

import re
import unicodedata
from functools import lru_cache

import Stemmer

# Scripts written without spaces between words. Their runs are indexed as overlapping pairs of characters.
_HAN = "\u2e80-\u2fdf\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA = "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
_SOUTH_EAST_ASIAN = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e80-\u0eff\u1000-\u109f\u1780-\u17d3"
_HANGUL = "\u1100-\u11ff\uac00-\ud7af"
_UNSPACED = _HAN + _KANA + _SOUTH_EAST_ASIAN + _HANGUL
# Vowel signs and other marks that are part of a word but not of `\w`.
_MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"

_WORD = re.compile(f"(?P<run>[{_UNSPACED}]+)|(?:(?![{_UNSPACED}])[^\\W_]|[{_MARKS}])+")
_IDEOGRAPH = re.compile(f"[{_HAN}]")
_DIACRITICS = re.compile("[\u0300-\u036f]")

_STOP_WORDS = (
    "a about after again all also am an and any are aren as at be because been before being both but by can could "
    "couldn did didn do does doesn doing don down during each few for from further had hadn has hasn have haven having "
    "he her here hers herself him himself his how i if in into is isn it its itself just ll me more most mustn my "
    "myself needn no nor not now of off on once only or other our ours ourselves out over own please re s same shan "
    "she should shouldn so some such t than that the their theirs them themselves then there these they this those "
    "through to too under until up ve very was wasn we were weren what when where which while who whom why will with "
    "won would wouldn you your yours yourself yourselves"
)
STOP_WORDS = frozenset(_STOP_WORDS.split())


def terms(text: str) -> list[str]:
    """Return the search terms of `text`, in order and with repeats.

    Words are lower-cased, without diacritics, stemmed (English Snowball), English stop words left out; scripts
    written without spaces become overlapping character pairs, ideographs also single characters.
    """
    found: list[str] = []
    for match in _WORD.finditer(_fold(text)):
        word = match.group()
        if match.group("run"):
            found += _pairs(word)
        elif word not in STOP_WORDS:
            found.append(_stem(word))
    return found


def _fold(text: str) -> str:
    if text.isascii():
        return text.lower()
    # Recomposed at the end, so that kana and hangul keep the forms the patterns above know.
    return unicodedata.normalize("NFC", _DIACRITICS.sub("", unicodedata.normalize("NFKD", text).casefold()))


def _pairs(run: str) -> list[str]:
    if len(run) == 1:
        return [run]
    return [run[i : i + 2] for i in range(len(run) - 1)] + _IDEOGRAPH.findall(run)


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    # One stemmer per call: a shared one is not safe across threads, and the cache makes calls rare.
    return str(Stemmer.Stemmer("english").stemWord(word))
