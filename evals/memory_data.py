"""Folders of scripted dialogues to measure memory with; whatever is wrong in one is a `ConfigError` that says where."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from condensery.errors import ConfigError
from condensery.evals.data import Place
from condensery.evals.folders import TOO_DEEP, described, find_in, refuse, text_of
from condensery.evals.memory_matching import carried, language_of, same_fact
from condensery.storage.text import clean_text

HELD_OUT = "held_"
"""What the names of files begin with that nobody looks at while they improve what is measured."""
FORM = "files *.json of dialogues: user, sessions of turns, facts, superseded, questions"


class Said(BaseModel):
    """One turn: what a person sends, with the document text that their client puts before it, and the reply.

    `states`: the facts that the turn states, in the words of the dialogue's `facts`. Where no turn of a dialogue has
    it, a turn states what its message has all content words of.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)
    message: str = Field(min_length=1)
    assistant: str = ""
    context: str = ""
    states: tuple[str, ...] | None = None

    @property
    def sent(self) -> str:
        """The message as a client sends it."""
        return clean_text(f"<context>{self.context}</context>\n{self.message}" if self.context else self.message)


class Asked(BaseModel):
    """A later question and the fact that should be recalled for it."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    ask: str = Field(min_length=1)
    fact: str = Field(min_length=1)


class _Given(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)
    user: str = Field(min_length=1)
    language: Literal["en", "de", "fr", "it"] | None = None
    sessions: list[list[Said]] = Field(min_length=1)
    facts: list[str] = []
    superseded: list[str] = []
    tolerated: list[str] = []
    questions: list[Asked] = []


@dataclass(frozen=True)
class Dialogue:
    """What one person says, what holds of them at the end, and what no longer does.

    `tolerated`: what may be kept and need not, such as a fact about somebody else, told as that.
    """

    user: str
    language: str
    sessions: tuple[tuple[Said, ...], ...]
    facts: tuple[str, ...]
    superseded: tuple[str, ...]
    tolerated: tuple[str, ...]
    questions: tuple[Asked, ...]
    place: Place

    @property
    def turns(self) -> tuple[Said, ...]:
        """All turns, in their order."""
        return tuple(chain(*self.sessions))

    @property
    def held_out(self) -> bool:
        return self.place.file.name.startswith(HELD_OUT)

    @property
    def told(self) -> tuple[str, ...]:
        """Everything the person says about themselves or others."""
        return (*self.facts, *self.superseded, *self.tolerated)

    def same(self, one: str, other: str) -> bool:
        """Whether both are one fact."""
        return same_fact(one, other, self.language)

    def states(self, number: int) -> tuple[str, ...]:
        """The facts that a turn states; `number` counts from 0 through all sessions."""
        turns = self.turns
        if any(turn.states is not None for turn in turns):
            return turns[number].states or ()
        return tuple(fact for fact in self.told if carried(fact, turns[number].message, self.language))


def read_dialogues(folder: Path) -> tuple[Dialogue, ...]:
    """The dialogues of every `*.json` in `folder`, one or a list of them a file. Raises `ConfigError`."""
    if not folder.is_dir():
        raise ConfigError(f"no such folder: {folder}")
    if not (files := sorted(folder.glob("*.json"))):
        raise ConfigError(f"{folder} is no data: it holds no {FORM}")
    dialogues = tuple(dialogue for file in files for dialogue in _read(file))
    places: dict[str, Place] = {}
    for dialogue in dialogues:
        if dialogue.user in places:
            refuse(dialogue.place, f"user '{dialogue.user}' is that of {places[dialogue.user]}, too; users must differ")
        places[dialogue.user] = dialogue.place
    return dialogues


def _read(file: Path) -> Iterator[Dialogue]:
    text, at = text_of(file), -1
    for raw in _objects(file, text):
        user = raw.get("user") if isinstance(raw, dict) else None
        at = find_in(text, user, at + 1) if isinstance(user, str) else max(at, 0)
        place = Place(file, text.count("\n", 0, at) + 1)
        try:
            given = _Given.model_validate(raw)
        except ValidationError as error:
            refuse(place, described(error))
        yield _checked(given, place)


def _objects(file: Path, text: str) -> list[Any]:
    try:
        raw = json.loads(text)
    except json.JSONDecodeError as error:
        refuse(Place(file, error.lineno), f"no JSON: {error.msg}")
    except RecursionError:
        refuse(Place(file, 1), TOO_DEEP)
    return raw if isinstance(raw, list) else [raw]


def _checked(given: _Given, place: Place) -> Dialogue:
    said = [turn.message for session in given.sessions for turn in session]
    dialogue = Dialogue(
        user=given.user,
        language=given.language or language_of(said),
        sessions=tuple(tuple(session) for session in given.sessions),
        facts=tuple(given.facts),
        superseded=tuple(given.superseded),
        tolerated=tuple(given.tolerated),
        questions=tuple(given.questions),
        place=place,
    )
    _must_be_among(dialogue, "questions: the fact", [each.fact for each in given.questions], dialogue.facts, "facts")
    stated = [fact for turn in dialogue.turns for fact in turn.states or ()]
    _must_be_among(dialogue, "states:", stated, dialogue.told, "facts, superseded or tolerated")
    for fact in dialogue.superseded:
        if any(dialogue.same(fact, other) for other in dialogue.facts):
            refuse(place, f"'{fact}' is among facts and among superseded; at the end it holds or it does not")
    return dialogue


def _must_be_among(dialogue: Dialogue, what: str, facts: list[str], known: tuple[str, ...], names: str) -> None:
    for fact in facts:
        if not any(dialogue.same(fact, other) for other in known):
            refuse(dialogue.place, f"{what} '{fact}' is none of {names}; write it there, too")
