"""Reads folders of data; whatever is wrong in one is a `ConfigError` that names the file and the line."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from condensery.errors import ConfigError
from condensery.evals.data import KINDS, Case, Data, Passage, Place, Wanted
from condensery.workflows.turn import Exchange

PASSAGES, TURNS, CORPUS, CONVERSATIONS = "passages.jsonl", "turns.jsonl", "corpus", "conversations"
CHAT_FORM = f"{CORPUS}/ with files to ingest and {CONVERSATIONS}/*.json"
TURNS_FORM = f"{PASSAGES} and {TURNS}"
TOO_DEEP = "no JSON that can be read: it is nested too deeply"


class _Given(BaseModel):
    """What a file gives; fields of others' data that mean nothing here are left alone."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class _Passage(_Given):
    id: str = Field(min_length=1)
    text: str = Field(min_length=1)


class _Message(_Given):
    role: str
    content: str


class _Turn(_Given):
    id: str
    kind: str = "turn"
    history: list[_Message] = []
    message: str = Field(min_length=1)
    relevant: list[str] = []


class _Fact(_Given):
    source: str = Field(min_length=1)
    fact: str = Field(min_length=1)


class _ChatTurn(_Given):
    message: str = Field(min_length=1)
    kind: str
    assistant: str = ""
    relevant: list[_Fact] = []


class _Conversation(_Given):
    name: str = Field(min_length=1)
    turns: list[_ChatTurn] = Field(min_length=1)


Model = TypeVar("Model", bound=_Given)


def read_folder(folder: Path) -> Data:
    """The data in `folder`, in whichever of the two forms it is."""
    if not folder.is_dir():
        raise ConfigError(f"no such folder: {folder}")
    if (folder / PASSAGES).exists() or (folder / TURNS).exists():
        return read_turns(folder)
    if (folder / CONVERSATIONS).exists() or (folder / CORPUS).exists():
        return read_chat(folder)
    raise ConfigError(f"{folder} is no data: it holds neither {TURNS_FORM} nor {CHAT_FORM}")


def read_turns(folder: Path) -> Data:
    """Passages and the turns that look for them."""
    _must_have(folder, PASSAGES, TURNS, form=TURNS_FORM)
    passages: dict[str, Passage] = {}
    for place, given in _lines(folder / PASSAGES, _Passage):
        if given.id in passages and passages[given.id].text != given.text:
            refuse(place, f"a second passage with the id '{given.id}'; ids must differ")
        passages[given.id] = Passage(given.id, given.text)
    cases: list[Case] = []
    for place, turn in _lines(folder / TURNS, _Turn):
        for wanted in turn.relevant:
            if wanted not in passages:
                refuse(place, f"relevant '{wanted}' is no passage of {PASSAGES}")
        if wants := tuple(Wanted(each) for each in dict.fromkeys(turn.relevant)):
            cases.append(Case(turn.id, turn.id, turn.kind, turn.message, exchanges(turn.history), wants, place))
    _must_hold(cases, folder / TURNS)
    return Data("turns", folder, tuple(cases), passages=tuple(passages.values()))


def read_chat(folder: Path, corpus: Path | None = None) -> Data:
    """Conversations over a corpus: the folder `corpus` in `folder` unless another is given."""
    corpus = corpus or folder / CORPUS
    _must_have(folder, CONVERSATIONS, *([CORPUS] if corpus.parent == folder else []), form=CHAT_FORM)
    files = sorted((folder / CONVERSATIONS).glob("*.json"))
    cases = [case for file in files for case in _cases(file)]
    _must_hold(cases, folder / CONVERSATIONS)
    return Data("chat", folder, tuple(cases), corpus=corpus)


def exchanges(history: list[_Message]) -> tuple[Exchange, ...]:
    """Messages by role as exchanges; messages of one side in a row are one, and a side that is missing is blank."""
    found: list[tuple[list[str], list[str]]] = []
    for message in history:
        if message.role not in ("user", "assistant"):
            continue
        if not found or (message.role == "user" and found[-1][1]):
            found.append(([], []))
        found[-1][message.role == "assistant"].append(message.content)
    return tuple(Exchange(message="\n\n".join(asked), answer="\n\n".join(said)) for asked, said in found)


def _cases(file: Path) -> Iterator[Case]:
    """The turns of one conversation that have something to find, each with the scripted turns before it."""
    text = text_of(file)
    try:
        raw = json.loads(text)
    except json.JSONDecodeError as error:
        refuse(Place(file, error.lineno), f"no JSON: {error.msg}")
    except RecursionError:
        refuse(Place(file, 1), TOO_DEEP)
    given = _checked(_Conversation, raw, file, text)
    history: list[Exchange] = []
    at = 0
    for number, turn in enumerate(given.turns, start=1):
        at = find_in(text, turn.message, at)
        place = Place(file, text.count("\n", 0, at) + 1)
        kind = re.sub(r"[\s-]+", "_", turn.kind.strip().lower())
        if kind not in KINDS:
            where = Place(file, text.count("\n", 0, find_in(text, turn.kind, at)) + 1)
            refuse(where, f"unknown kind '{turn.kind}'; choose one of {', '.join(KINDS)}")
        if turn.relevant:
            wanted = tuple(dict.fromkeys(Wanted(each.source, each.fact) for each in turn.relevant))
            yield Case(f"{given.name} #{number}", given.name, kind, turn.message, tuple(history), wanted, place)
        history.append(Exchange(message=turn.message, answer=turn.assistant))


def _lines(file: Path, model: type[Model]) -> Iterator[tuple[Place, Model]]:
    for number, line in enumerate(text_of(file).split("\n"), start=1):
        if line.strip():
            place = Place(file, number)
            try:
                raw = json.loads(line)
            except json.JSONDecodeError as error:
                refuse(place, f"no JSON: {error.msg}")
            except RecursionError:
                refuse(place, TOO_DEEP)
            try:
                yield place, model.model_validate(raw)
            except ValidationError as error:
                refuse(place, described(error))


def _checked(model: type[Model], raw: Any, file: Path, text: str) -> Model:
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        where = error.errors()[0]["loc"]
        number = where[1] if len(where) > 1 and where[0] == "turns" else 0
        turns = raw.get("turns") if isinstance(raw, dict) else None
        turn = turns[number] if isinstance(turns, list) and isinstance(number, int) and turns else None
        message = turn.get("message") if isinstance(turn, dict) else None
        at = find_in(text, message, 0) if isinstance(message, str) else 0
        refuse(Place(file, text.count("\n", 0, at) + 1), described(error))


def described(error: ValidationError) -> str:
    """The first thing that is wrong, with its place in the object."""
    first = error.errors()[0]
    name = ".".join(str(part) for part in first["loc"]) or "the object"
    return f"{name}: {first['msg'][:1].lower()}{first['msg'][1:]}"


def find_in(text: str, value: str, start: int) -> int:
    """Where `value` stands as a JSON string in `text`, or `start` when it is written in a way of its own."""
    for spelled in (json.dumps(value, ensure_ascii=False), json.dumps(value)):
        if (at := text.find(spelled, start)) >= 0:
            return at
    return start


def place_of(case: Case, words: str) -> Place:
    """The line of the case's file that holds `words`."""
    text = text_of(case.place.file)
    start = sum(len(line) + 1 for line in text.split("\n")[: case.place.line - 1])
    return Place(case.place.file, text.count("\n", 0, find_in(text, words, start)) + 1)


def text_of(file: Path) -> str:
    """The text of a file; raises `ConfigError` for one that cannot be read."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: no UTF-8 text: {error.reason} at byte {error.start}") from None
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror}") from None


def _must_have(folder: Path, *names: str, form: str) -> None:
    if missing := [name for name in names if not (folder / name).exists()]:
        raise ConfigError(f"{folder} has no {' and no '.join(missing)}; such a folder holds {form}")


def _must_hold(cases: list[Case], file: Path) -> None:
    if not cases:
        raise ConfigError(f"{file}: no turn in it has anything to find")


def refuse(place: Place, reason: str) -> NoReturn:
    """Raise `ConfigError` for what is wrong at `place`."""
    raise ConfigError(f"{place}: {reason}")
