"""How people say something of themselves in each language: the patterns of `prompts/<locale>/facts.toml`, compiled."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from condensery.errors import ConfigError
from condensery.prompts.loader import LOCALES, prompts_for

# fmt: off
WORDS = (
    "subject", "pronoun", "own", "added", "be", "elided", "elide_as", "states_as", "blocked", "ask", "others",
    "tags", "task", "fiction", "unreal", "doubtful", "reported", "causes", "note", "lead", "prefix", "joins", "weak",
    "goes_on", "cut", "conditional", "dangling", "passing_time", "negation", "secret", "fillers", "stops", "numbers",
    "verb_last", "inverted", "everyday", "years", "opens", "change", "single", "labels", "equals", "measured", "apart",
    "aside", "share", "tail", "polite", "same_subject", "auxiliary", "asking", "wondering",
)
# fmt: on
"""What every locale must say."""

_AT_START = frozenset(
    [
        "subject",
        "pronoun",
        "own",
        "added",
        "be",
        "elided",
        "blocked",
        "ask",
        "others",
        "tags",
        "task",
        "causes",
        "note",
        "lead",
        "goes_on",
        "opens",
        "single",
        "apart",
        "same_subject",
        "asking",
    ]
)
_ANYWHERE = frozenset(["fiction", "unreal", "doubtful", "reported", "change", "measured", "share"])
_PLAIN = frozenset(["elide_as", "states_as", "equals", "numbers"])
_MACRO = re.compile(r"\{([a-z_]+)\}")
HELD = "‚"
"""Stands for a comma that parts nothing: before what is always to be done "when you answer"."""
_CAPITAL = "(?-i:[A-ZÀ-ÖØ-Þ])"


class Frame(NamedTuple):
    """One way to state one kind of fact; `slot` ends with a colon when what is said belongs to it."""

    slot: str
    pattern: re.Pattern[str]


class Rewrite(NamedTuple):
    """A phrase that states a fact without being a clause ("As a nurse, …"), and how it is said as one.

    `into` names groups of the pattern in braces. `alone`: nothing need stand beside it.
    """

    pattern: re.Pattern[str]
    into: str
    alone: bool = False

    def rewritten(self, text: str) -> str | None:
        """`text` as a clause, None when it is no such phrase."""
        found = self.pattern.fullmatch(f"{text[:1].lower()}{text[1:]}" if self.alone else text)
        return self.into.format(**found.groupdict(default="")) if found else None


class Grammar:
    """The compiled patterns of one locale. Raises `ConfigError` for a missing or broken one."""

    def __init__(self, locale: str, table: Mapping[str, Any]) -> None:
        self.locale = locale
        self._macros = {"cap": _CAPITAL, **table["macros"]}
        words = table["words"]
        if missing := set(WORDS) - set(words):
            raise ConfigError(f"{locale}/facts.toml lacks {', '.join(sorted(missing))} in [words]")
        self.elide_as: str = words["elide_as"]
        self._equals: str = words["equals"]
        self.states_as: str = words["states_as"]
        self.shortest = int(words.get("shortest", 2))
        self.everyday = frozenset(words["everyday"].split("|"))
        self.numbers: dict[str, str] = {
            name: str(at) for at, names in enumerate(words["numbers"]) for name in names.split("|")
        }
        self.fillers = frozenset(words["fillers"].split("|"))
        self.adverbs = self._compiled("{adv}")
        self.states = self._compiled(r"(?:{states}|{diets}|{marital})(?!\w)")
        self.people = self._compiled(r"\b(?:{person}|{he})(?!\w)")
        self.nations = self._compiled(r"{nations}(?!\w)")
        passing = {"passing": self._compiled(r"\b(?:{passing})(?!\w)")}
        self._words = passing | {name: self._word(name, words[name]) for name in WORDS if name not in _PLAIN}
        self.frames = tuple(Frame(each["slot"], self._compiled(each["pattern"])) for each in table["frames"])
        self.standing = self._compiled("{standing}")
        self._spelled = tuple((self._compiled(row["pattern"]), row["into"]) for row in table["spelled"])
        self.rewrites = self._rewrites(table["rewrites"])
        self.continued = self._rewrites(table["continued"])
        self.topics = {name: self._compiled(rf"\b(?:{words})\b") for name, words in table["topics"].items()}

    def __getitem__(self, name: str) -> re.Pattern[str]:
        """The pattern of the words called `name`."""
        return self._words[name]

    def _rewrites(self, rows: Sequence[Mapping[str, Any]]) -> tuple[Rewrite, ...]:
        return tuple(Rewrite(self._compiled(row["pattern"]), row["into"], row.get("alone", False)) for row in rows)

    def continues(self, before: str, text: str) -> str | None:
        """`text` as a clause when it goes on with the statement `before` as one more fact ("…, 22 years old").

        Its pattern is matched against both, with " & " between them.
        """
        both = f"{before[:1].lower()}{before[1:].rstrip('.')} & {text.rstrip(' .!…')}"
        return next((said for each in self.continued if (said := each.rewritten(both))), None)

    def equated(self, sentence: str) -> str:
        """`sentence` as it would be written with care.

        It has a verb for the colon after what is one's own ("My number: 12" as "My number is 12"), the pronouns and
        endings that are swallowed in a chat, and commas between clauses.
        """
        sentence = self["labels"].sub(self._equals, sentence)
        for pattern, into in self._spelled:
            sentence = pattern.sub(into, sentence)
        return sentence

    def _word(self, name: str, pattern: str) -> re.Pattern[str]:
        if name in _AT_START:
            return self._compiled(rf"(?:{pattern})(?:(?<=')|(?![\w']))")
        return self._compiled(rf"\b(?:{pattern})(?!\w)" if name in _ANYWHERE else pattern)

    def _compiled(self, pattern: str) -> re.Pattern[str]:
        try:
            while _MACRO.search(pattern):
                pattern = _MACRO.sub(lambda match: self._macros[match[1]], pattern)
            return re.compile(pattern, re.IGNORECASE)
        except (re.error, KeyError) as error:
            raise ConfigError(f"{self.locale}/facts.toml has a broken pattern ({error}): {pattern[:80]}") from error


@cache
def grammars() -> tuple[Grammar, ...]:
    """Those of all locales, read once: a person may write another language than that of the product."""
    return tuple(Grammar(locale, prompts_for(locale).facts) for locale in LOCALES)
