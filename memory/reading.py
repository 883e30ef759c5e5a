"""What a fact is about: its slot, the words that tell it from others of the slot, and whether it denies them. Pure."""

import re
from functools import lru_cache
from typing import NamedTuple

import Stemmer

from condensery.memory.grammar import Grammar
from condensery.memory.languages import grammars_for
from condensery.workflows.engines.wording import common_words, folded

_ALGORITHMS = {"en": "english", "de": "german", "fr": "french", "it": "italian"}
_WORD = re.compile(r"[^\W_]+(?:[.,:]\d+)*")
_TRAILING = " .!,;"
_NAME_OF = re.compile(r"'s name$", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[,;:(]")
_COUNTED = re.compile(r"^(?:ein|zwei|drei|vier|funf|sechs|sieben)(?=\w{4})")
_TOPIC_SLOTS = ("prefer:", "switch:")


class Reading(NamedTuple):
    """`words` are stems and numbers; `slot` is None for what is stated in no known way.

    `changes`: it tells a new state by a word for it ("now", "no longer").
    """

    slot: str | None
    words: frozenset[str]
    denies: bool
    changes: bool = False

    @property
    def numbers(self) -> frozenset[str]:
        """Those of the words that hold a digit."""
        return frozenset(word for word in self.words if any(map(str.isdigit, word)))


@lru_cache(maxsize=4096)
def read(text: str) -> Reading:
    """The reading of one statement in the first person, in whichever language."""
    plain = " ".join(text.replace("’", "'").split()).strip(_TRAILING)
    likely = grammars_for(plain, plain)
    for grammar in likely:
        if found := framed(plain, grammar):
            return found
    return Reading(None, _stems(plain, likely[0]), *_mood(plain, likely[0]))


def framed(text: str, grammar: Grammar) -> Reading | None:
    """The reading of `text` by the first frame of `grammar` that it fits, None when it fits none."""
    before = grammar["prefix"].match(text)
    core = grammar["aside"].sub(r"\1", text[before.end() :] if before else text)
    said_last = f"{core} {before[0].rstrip(' ,')}" if before else core
    return _first(core, text, grammar) or (_first(said_last, text, grammar) if before else None)


def _first(core: str, text: str, grammar: Grammar) -> Reading | None:
    for frame in grammar.frames:
        if found := frame.pattern.fullmatch(core):
            groups = found.groupdict()
            said = next((groups[name] for name in groups if name.startswith("o") and groups[name]), core)
            return Reading(_slot(frame.slot, said, groups, grammar), _stems(said, grammar), *_mood(text, grammar))
    return None


def _mood(text: str, grammar: Grammar) -> tuple[bool, bool]:
    return bool(grammar["negation"].search(text)), bool(grammar["change"].search(text))


def _slot(slot: str, said: str, groups: dict[str, str | None], grammar: Grammar) -> str:
    if not slot.endswith(":"):
        return slot
    if slot == "my:":
        owned, named = _NAME_OF.subn("", groups["x"] or "")
        return f"my:{_key(owned, grammar)}{' name' if named else _aspect(said, groups, grammar)}"
    if slot == "its:":
        verb = grammar["auxiliary"].sub("", grammar.adverbs.sub("", said, count=1), count=1).partition(" ")[0]
        return f"its:{_key(groups['x'] or '', grammar)} {_key(verb, grammar) or verb.casefold()}"
    if slot == "role:":
        return slot + _key(said.partition(" ")[0], grammar)
    if slot == "do:":
        return _act(said, grammar)
    if slot == "have:":
        return slot + _key(_CLAUSE_END.split(grammar["stops"].split(said)[0])[0], grammar, counts=False)
    if slot in _TOPIC_SLOTS:
        for topic, words in grammar.topics.items():
            if words.search(said):
                return f"prefer:{topic}"
    if slot == "wish:":
        return slot + _wished(said, grammar)
    return slot + _key(grammar["stops"].split(said)[0] if slot == "prefer:" else said, grammar)


def _wished(said: str, grammar: Grammar) -> str:
    """What a wish about answers is about: which language or length they should have, else all that it says."""
    for topic, words in grammar.topics.items():
        if words.search(said):
            return f"{topic} {_key(words.sub('', said), grammar)}".rstrip()
    return _key(said, grammar)


def _act(said: str, grammar: Grammar) -> str:
    """The slot of an activity: its verb when one does it in one way at a time, else the verb and what is done."""
    verb, _, rest = said.partition(" ")
    rest = grammar.adverbs.sub("", rest, count=1)
    if grammar["single"].match(f"{verb} {rest}"):
        return f"do {_key(verb, grammar) or verb.casefold()}"
    done = grammar["stops"].split(f" {rest}")
    first = next((part for part in done if part.strip()), "")
    return f"do:{_key(verb, grammar)} {_key(_CLAUSE_END.split(first)[0], grammar)}".rstrip()


def _aspect(said: str, groups: dict[str, str | None], grammar: Grammar) -> str:
    """What is said of a thing of one's own: its name, its age, one of its many properties, or the thing itself."""
    if groups.get("how"):
        return " name"
    if re.match(r"\d+ \w+$", said) and grammar["years"].search(said):
        return " age"
    return f" {_key(said, grammar)}" if re.fullmatch(r"[a-zà-öø-ÿ-]+", said) else ""


def _key(said: str, grammar: Grammar, *, counts: bool = True) -> str:
    """The words of `said` as part of a slot; without `counts`, also without the number that begins a German word."""
    words = (word for word in _stems(said, grammar) if not word.isdecimal())
    return " ".join(sorted(words if counts else (_COUNTED.sub("", word) for word in words)))


def _stems(text: str, grammar: Grammar) -> frozenset[str]:
    """The stems of the words with a meaning, and the numbers in digits."""
    words = [folded(word) for word in _WORD.findall(text)]
    plain = [grammar.numbers.get(word, word) for word in words]
    kept = (word for word in plain if word not in grammar.fillers and (word not in common_words() or word.isdecimal()))
    return frozenset(word if word.isdecimal() else _stem(_ALGORITHMS[grammar.locale], word) for word in kept)


@lru_cache(maxsize=65_536)
def _stem(algorithm: str, word: str) -> str:
    return str(Stemmer.Stemmer(algorithm).stemWord(word))
