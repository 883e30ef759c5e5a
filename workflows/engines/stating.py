"""Whether a rewrite says of the person what they said of themselves in the message, and nothing else."""

import re

from condensery.memory.clauses import statements
from condensery.memory.grammar import grammars
from condensery.memory.languages import grammars_for
from condensery.memory.self_stated import self_stated
from condensery.workflows.engines.wording import Vocabulary, content_words, folded, numbers

_NAME = re.compile(r"(?<=[\w,'’] )[^\W\d_a-z][\w'’-]*")


def load() -> None:
    """Read how people state things of themselves. Blocks for some tenths of a second."""
    grammars()


def loses(rewrite: str, message: str) -> bool:
    """Whether `rewrite` lacks a name, a number or every word of anything that `message` states of its writer."""
    kept = Vocabulary(rewrite)
    return any(not _has(kept, rewrite, fact.text, one=True) for fact in self_stated(message))


def restated(rewrite: str, message: str) -> str:
    """`rewrite` after the statements of `message` of which it has only words ("… in Zurich?" for "I'm in Zurich")."""
    stated = " ".join(fact.text for fact in self_stated(rewrite))
    kept = Vocabulary(stated)
    missing = [fact.text for fact in self_stated(message) if not _has(kept, stated, fact.text)]
    return " ".join([*missing, rewrite])


def invents(rewrite: str, message: str, earlier: str) -> bool:
    """Whether `rewrite` states something of its writer that they said neither in `message` nor in `earlier` messages.

    A statement of the message that leans on others ("I work there") may be put in full by words of an answer.
    """
    said = f"{message} {earlier}"
    known = Vocabulary(said)
    new = [fact.text for fact in self_stated(rewrite) if not _has(known, said, fact.text)]
    leaning = [stated.text for stated in statements(message) if stated.refers]
    return len(new) > len(leaning) or not all(any(_says(text, short) for short in leaning) for text in new)


def _says(full: str, short: str) -> bool:
    """Whether `full` has every word of `short` that says something: "I work at the mill" of "I work there"."""
    words = content_words(short)
    kept = Vocabulary(full)
    return bool(words) and all(map(kept.has, words))


def _has(kept: Vocabulary, text: str, statement: str, *, one: bool = False) -> bool:
    """Whether `text`, whose words are `kept`, has the names, numbers and words of `statement`; with `one`, any word."""
    fillers = {filler for grammar in grammars_for(statement, statement) for filler in grammar.fillers}
    words = {folded(word): word for word in content_words(statement) if folded(word) not in fillers}
    lost = [word for word in words.values() if not kept.has(word)]
    is_named = not set(_NAME.findall(statement)) & set(lost) and numbers(statement) <= numbers(text)
    return is_named and (not lost or (one and len(lost) < len(words)))
