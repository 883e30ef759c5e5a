"""Takes a label that a model repeated from its prompt off the start of a reply ("Answer:", "Reformulierte Frage:")."""

import bisect
import itertools
import re

_NOISE = re.compile(r"[*_#>,!.\s]+")
_COLON = re.compile(r"[:：\n]")


def _phrases(*slots: str) -> set[str]:
    """Every way to pick one alternative (separated by `|`, possibly empty) from each slot, in order."""
    picks = itertools.product(*(slot.split("|") for slot in slots))
    return {" ".join(" ".join(pick).split()) for pick in picks}


_OPENER = "|sure|certainly|of course|okay|ok"
_EN = "standalone|stand-alone|rephrased|rewritten|reworded|reformulated|condensed|revised|rephrased standalone"
_DE = "eigenständige|umformulierte|umgeschriebene|neu formulierte|reformulierte|verdichtete|überarbeitete"
_FR = "autonome|reformulée|indépendante|réécrite|condensée|révisée"
_IT = "autonoma|autosufficiente|riformulata|indipendente|riscritta|condensata"
_ANSWERS = {
    *_phrases("|final|the|here is the|here's the", "answer", "|is"),
    *_phrases("die|hier ist die|", "antwort", "|lautet|ist"),
    *_phrases("la|voici la|", "réponse", "|est"),
    *_phrases("la|ecco la|", "risposta", "|è"),
    *("assistant", "assistent", "assistente", "ai", "bot", "response", "reply"),
}
_REWRITES = {
    *_phrases(_OPENER, "|here is|here's", "|the|a|your|my", _EN, "question|query|search query|version", "|is|would be"),
    *_phrases("the question", "is"),
    *_phrases("|hier ist", "|die|eine|deine|ihre", _DE, "frage|anfrage|suchanfrage", "|lautet|ist|wäre"),
    *_phrases("die frage", "lautet|ist"),
    *_phrases("|voici", "|la|une|votre", "question|requête", _FR, "|est|serait"),
    *_phrases("la question", "est"),
    *_phrases("|ecco", "|la|una|tua", "domanda|richiesta", _IT, "|è|sarebbe"),
    *_phrases("la domanda", "è"),
}
_PASSAGES = {
    *_phrases(_OPENER, "|here is|here's", "|the|a|one", "|short|hypothetical|possible|likely", "passage", "|text"),
    *_phrases("|hier ist", "|der|ein", "|kurzer|kurze|mögliche|möglicher|hypothetischer", "abschnitt|textabschnitt"),
    *_phrases("|voici", "|le|un", "|court", "passage|extrait", "|possible|hypothétique"),
    *_phrases("|ecco", "|il|un", "|breve|possibile", "brano|passaggio", "|ipotetico"),
}
_BARE = {"question", "query", "search query", "frage", "suchanfrage", "requête", "domanda", "richiesta"}

LABELS = sorted(_ANSWERS | _REWRITES)
REWRITE_LABELS = sorted(_ANSWERS | _REWRITES | _BARE)
PASSAGE_LABELS = sorted(_ANSWERS | _PASSAGES)
_LONGEST = max(map(len, REWRITE_LABELS + PASSAGE_LABELS))


class LabelFilter:
    """Drops leading labels and white space; everything after the first words that are no label passes unchanged.

    Text is held back only as long as it may still become one of `labels` (sorted, in lower case, without markup).
    """

    def __init__(self, labels: list[str] = LABELS) -> None:
        self._labels = labels
        self._buffer = ""
        self._closing = ""
        self._passing = False

    def feed(self, delta: str) -> str:
        """Take the next piece; return what is certain now."""
        if self._passing:
            return delta
        self._buffer += delta
        return self._decide(final=False)

    def finish(self) -> str:
        """Return what was held back."""
        return "" if self._passing else self._decide(final=True)

    def _decide(self, *, final: bool) -> str:
        while True:
            text = self._buffer.lstrip()
            if self._closing and not final and len(text) < len(self._closing) and self._closing.startswith(text):
                return ""
            text = text.removeprefix(self._closing).lstrip() if self._closing else text
            end = _COLON.search(text)
            if end is None and not final and self._may_become_label(text):
                return ""
            if end is None or end.group() == "\n" or not self._is_label(text[: end.start()]):
                return self._pass(text)
            self._closing = _unclosed_markup(text[: end.start()])
            self._buffer = text[end.end() :]

    def _pass(self, text: str) -> str:
        self._passing, self._buffer = True, ""
        return text

    def _is_label(self, text: str) -> bool:
        plain = _plain(text)
        at = bisect.bisect_left(self._labels, plain)
        return at < len(self._labels) and self._labels[at] == plain

    def _may_become_label(self, text: str) -> bool:
        plain = _plain(text)
        at = bisect.bisect_left(self._labels, plain)
        return len(text) < 2 * _LONGEST and at < len(self._labels) and self._labels[at].startswith(plain)


def strip_label(text: str, known: list[str] = REWRITE_LABELS) -> str:
    """Return `text` without the `known` labels at its start: those of a rewritten question, a bare "Question:" too."""
    labels = LabelFilter(known)
    return labels.feed(text) + labels.finish()


def _plain(text: str) -> str:
    return _NOISE.sub(" ", text.replace("’", "'")).strip().lower()


def _unclosed_markup(label: str) -> str:
    opening = re.match(r"[*_]*", label)
    marks = opening.group() if opening else ""
    return "" if label.rstrip().endswith(marks) else marks
