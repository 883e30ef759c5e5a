"""Whether a fact is about the person who asks, and said by them: the question carries it, the answer only names things.

Pure. It judges what a model found, and again whatever is about to be stored.
"""

import re

from condensery.memory.clauses import Statement, statements
from condensery.memory.grammar import Grammar
from condensery.memory.merging import HOME
from condensery.memory.pieces import sentences_of
from condensery.memory.reading import framed
from condensery.workflows.engines.wording import Vocabulary, content_words, numbers

_WORDS = re.compile(r"[^\W\d_]+")


def supported(fact: str, question: str, answer: str) -> bool:
    """Whether `fact` is one statement in the first person that `question` makes, in these words or nearly so.

    Words that the statement does not hold may come from `answer`, or from what else the question says of no person, and
    only where the statement refers to something ("I live there"). What the question says of others, quotes, supposes or
    asks supports nothing.
    """
    stated = statements(question)
    return any(_carries(told, each, question, answer) for told in _told(fact) for each in stated)


def _told(fact: str) -> list[Statement]:
    """`fact` as a statement, when it is a single one that stands alone and is no passing state."""
    found = statements(fact) if "\n" not in fact.strip() else []
    whole = [stated for stated in found if _length(stated.text) >= _length(fact)]
    return [stated for stated in whole if not stated.refers]


def _carries(told: Statement, stated: Statement, question: str, answer: str) -> bool:
    """Whether `stated`, a clause of the question, holds what `told` says."""
    if _plain(told.text) == _plain(stated.text):
        return is_lasting(stated)
    if told.grammar.locale != stated.grammar.locale or _is_owned(told) != _is_owned(stated):
        return False
    if _denies(told) != _denies(stated):
        return False
    words, said = content_words(told.text), Vocabulary(stated.text)
    other = [word for word in words if not said.has(word)]
    if other and _answers_something_else(told, stated):
        return False
    missing = [word for word in other if not _is_filler(word, told.grammar)]
    extra_numbers = numbers(told.text) - numbers(stated.text)
    if not missing and not extra_numbers:
        return is_lasting(told) and not _loses_a_name(told, stated)
    if not stated.refers or not _shares_a_word(told, stated) or not is_lasting(told):
        return False
    meant = f"{answer} {_of_no_person(question, stated.grammar)}"
    named = Vocabulary(meant)
    return all(named.has(word) for word in missing) and extra_numbers <= numbers(meant)


def _of_no_person(question: str, grammar: Grammar) -> str:
    """The sentences of `question` that speak of nobody else: what "there" and "it" may mean."""
    return " ".join(sentence for sentence in sentences_of(question) if not grammar.people.search(sentence))


def leaves_open(question: str) -> bool:
    """Whether `question` states something that only a model may make a fact of: put in no known way, or referring.

    What is put in a known way is a fact already, and can support no other.
    """
    told = statements(question)
    return any(each.refers or (not _is_framed(each) and is_lasting(each)) for each in told)


def is_lasting(stated: Statement) -> bool:
    """Whether `stated` may be a lasting fact: put in a known way, or any other statement about the speaker themselves.

    What is said of their belongings and people needs a known way: most of it passes.
    """
    grammar = stated.grammar
    if _is_framed(stated):
        return True
    return not _is_owned(stated) and not grammar["passing"].search(stated.text)


def _is_framed(stated: Statement) -> bool:
    return framed(stated.text.rstrip("."), stated.grammar) is not None


def _is_owned(stated: Statement) -> bool:
    """Whether the subject is something of the speaker's, and not the speaker."""
    return bool(stated.grammar["own"].match(stated.text))


def _denies(stated: Statement) -> bool:
    return bool(stated.grammar["negation"].search(stated.text))


def _answers_something_else(told: Statement, stated: Statement) -> bool:
    """Whether both are put in known ways that do not belong together ("I live in Leith", "I work in Leith")."""
    ways = [framed(each.text.rstrip("."), each.grammar) for each in (told, stated)]
    kinds = {(way.slot or "").partition(":")[0] for way in ways if way}
    return None not in ways and not stated.refers and len(kinds) > 1 and not kinds <= HOME


def _is_filler(word: str, grammar: Grammar) -> bool:
    return word.casefold() in grammar.fillers


def _loses_a_name(told: Statement, stated: Statement) -> bool:
    """Whether a clause about somebody else's thing became one about the speaker's ("my sister's dog")."""
    possessives = re.findall(r"\b(\w+)'s\b", stated.text)
    return any(name.casefold() not in told.text.casefold() for name in possessives if len(name) > 1)


def _shares_a_word(told: Statement, stated: Statement) -> bool:
    """Whether the verb, or another word of the clause beside its subject, is in the fact as well."""
    own = {word.casefold() for word in _WORDS.findall(stated.text)[1:]}
    return any(word.casefold() in own for word in _WORDS.findall(told.text)[1:])


def _length(text: str) -> int:
    return len(_plain(text))


def _plain(text: str) -> str:
    return " ".join(_WORDS.findall(text.casefold())) + " ".join(sorted(numbers(text)))
