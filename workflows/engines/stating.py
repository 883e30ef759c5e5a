"""Whether a rewrite says of the person what they said of themselves in the message, and nothing else."""

import re

from condensery.memory.clauses import statements
from condensery.memory.grammar import grammars
from condensery.memory.languages import grammars_for
from condensery.memory.self_stated import self_stated
from condensery.workflows.engines.wording import Vocabulary, content_words, folded, numbers

MOST_LOST = 0.34
"""The share of a statement's words that a rewrite may put otherwise, never a name or a number."""

_NAME = re.compile(r"(?<=[\w,'’] )[^\W\d_a-z][\w'’-]*")


def load() -> None:
    """Read how people state things of themselves. Blocks for some tenths of a second."""
    grammars()


def loses(rewrite: str, message: str) -> bool:
    """Whether `rewrite` lacks a name, a number or most words of anything that `message` states of its writer."""
    kept = Vocabulary(rewrite)
    return any(not _has(kept, rewrite, fact.text, MOST_LOST) for fact in self_stated(message))


def restated(rewrite: str, message: str) -> str:
    """`rewrite` after the statements of `message` of which it has only words ("… in Zurich?" for "I'm in Zurich")."""
    stated = " ".join(fact.text for fact in self_stated(rewrite))
    kept = Vocabulary(stated)
    missing = [fact.text for fact in self_stated(message) if not _has(kept, stated, fact.text, 0)]
    return " ".join([*missing, rewrite])


def invents(rewrite: str, message: str, earlier: str) -> bool:
    """Whether `rewrite` states something of its writer that they said neither in `message` nor in `earlier` messages.

    A statement of the message that leans on others ("I work there") may be put in full by words of an answer.
    """
    said = f"{message} {earlier}"
    known = Vocabulary(said)
    new = [fact for fact in self_stated(rewrite) if not _has(known, said, fact.text, 0)]
    return len(new) > sum(stated.refers for stated in statements(message))


def _has(kept: Vocabulary, text: str, statement: str, most_lost: float) -> bool:
    fillers = {filler for grammar in grammars_for(statement, statement) for filler in grammar.fillers}
    words = {folded(word): word for word in content_words(statement) if folded(word) not in fillers}
    lost = [word for word in words.values() if not kept.has(word)]
    names = set(_NAME.findall(statement))
    return numbers(statement) <= numbers(text) and not names & set(lost) and len(lost) <= most_lost * len(words)
