"""What of a turn may be looked at for facts: no text of documents, whoever repeats it. Pure functions."""

import re
import unicodedata
from collections.abc import Sequence

from condensery.retrieval.sentences import sentence_spans
from condensery.retrieval.text import is_blank
from condensery.retrieval.types import ScoredChunk
from condensery.workflows.engines.wording import Vocabulary, content_words, numbers
from condensery.workflows.events import CondensedQuestion

LONGEST_RUN = 8
"""Words in a row that a sentence shares with a document only when it is copied from it."""

_CITATION = re.compile(r"[ \t]*\[\d+\]")
_WORD = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17d3\u3041-\u30ff\u3400-\u9fff]|[^\W_]+")
_QUOTATION = re.compile(
    r"\"(?=\S)[^\"]+(?<=\S)\"|“[^”]+”|„[^“”]+[“”]|«[^»]+»|‹[^›]+›|‘[^’]+’(?!\w)|(?<!\w)'(?=\S)[^']+(?<=\S)'(?!\w)"
)
_DIACRITICS = re.compile("[\u0300-\u036f]")


def own_answer(
    answer: str, mode: str, chunks: Sequence[ScoredChunk], recalled: Sequence[str] = (), read: Sequence[str] = ()
) -> str:
    """What `answer` says in words of its own: nothing of one that is `"extractive"`.

    Of a generated one the sentences, without citations, that neither stand in the evidence as they are nor have a word
    in a run of `LONGEST_RUN` words in a row that it shares with the evidence, across the ends of sentences too. Case,
    accents and punctuation make no difference; scripts without spaces count characters. Those that repeat a `recalled`
    fact are left out as well: it is known. `read` is what else the model had before it, such as a pasted document;
    what it copied from there is not its own either.
    """
    if mode == "extractive":
        return ""
    lines = _CITATION.sub("", answer).splitlines()
    sentences = [line[start:end] for line in lines for start, end in sentence_spans(line)]
    texts = [_words(text) for text in (*(found.chunk.text for found in chunks), *read)]
    copied = _copied([word for sentence in sentences for word in _words(sentence)], texts)
    kept, at = [], 0
    for sentence in sentences:
        words = _words(sentence)
        is_copied = any(copied[at : at + len(words)]) or _stands_in(words, texts)
        if not is_copied and not _repeats(sentence, recalled):
            kept.append(" ".join(sentence.split()))
        at += len(words)
    return " ".join(kept)


def own_question(question: CondensedQuestion, *, earlier: bool = False) -> str:
    """`question` as the person, or a model that rewrote it, put it: without what earlier answers lent, nor long quotes.

    An engine without a model puts words of the last answer, which may be a document's, in front of the message, and the
    questions before it: these stay with `earlier`, to search with, and go where facts are looked for, since they were
    looked at in their own turn and may have been taken back since.
    """
    asked = [probe.text for probe in question.probes if not probe.told]
    if not asked or question.question in asked:
        own = question.question
    else:
        own = " ".join(text for text in reversed(asked) if text in question.question) if earlier else asked[0]
    unquoted = _QUOTATION.sub(_without_text, own)
    return question.question if is_blank(unquoted) else unquoted


def _without_text(quotation: re.Match[str]) -> str:
    return "…" if len(_words(quotation.group())) >= LONGEST_RUN else quotation.group()


def _copied(words: Sequence[str], texts: Sequence[Sequence[str]]) -> list[bool]:
    """For each of `words`, whether it is part of a run that one of `texts` has, too."""
    runs = {tuple(text[at : at + LONGEST_RUN]) for text in texts for at in range(len(text) - LONGEST_RUN + 1)}
    begins = [tuple(words[at : at + LONGEST_RUN]) in runs for at in range(len(words))]
    return [any(begins[max(at - LONGEST_RUN + 1, 0) : at + 1]) for at in range(len(words))]


def _stands_in(words: Sequence[str], texts: Sequence[Sequence[str]]) -> bool:
    """Whether one of `texts` has all of `words` in a row; no words stand anywhere."""
    return not words or any(f" {' '.join(words)} " in f" {' '.join(text)} " for text in texts)


def _repeats(sentence: str, facts: Sequence[str]) -> bool:
    """Whether `sentence` has a name, a number or half of the content words of one of `facts`."""
    if not facts:
        return False
    said, counted = Vocabulary(sentence), numbers(sentence)
    for fact in facts:
        words = content_words(fact)
        known = [word for word in words if said.has(word)]
        is_named = any(not word.islower() for word in known if not fact.startswith(word))
        if is_named or counted & numbers(fact) or (words and 2 * len(known) >= len(words)):
            return True
    return False


def _words(text: str) -> list[str]:
    """The words of `text` in lower case and without accents."""
    return _WORD.findall(_DIACRITICS.sub("", unicodedata.normalize("NFKD", text).casefold()))
