"""Titles of conversations from the key terms of a question. Pure functions, no model."""

import re
from itertools import takewhile

from condensery.retrieval.text import beginning, one_line
from condensery.workflows.engines.wording import content_words, folded, ordinary_words
from condensery.workflows.own_words import is_question, question_in, sentences

TITLE_CHARS = 60

_TOKEN = re.compile(r"\S+")
_EDGES = " \t.,;:!?…¿¡\"'“”„«»()[]{}*_`~#-–—？。！"
_ELIDED = re.compile(r"^(?:[a-z]|qu|dell|nell|all|dall|sull|un|dov|quest)['’](?=\w)", re.IGNORECASE)


def title_of(question: str, most: int = TITLE_CHARS) -> str:
    """The part of `question` from its first key term to its last, at most `most` characters, beginning with a capital.

    Of several sentences the last that asks. One in which a single word tells anything, and a greeting, stays whole.
    """
    sentence = _asking(one_line(question))
    tokens = [token for token in map(_unwrapped, _TOKEN.findall(sentence)) if token]
    telling = _without_ordinary([at for at, token in enumerate(tokens) if _tells(token)], tokens)
    words = tokens[telling[0] : telling[-1] + 1] if len(telling) > 1 else tokens
    if len(telling) > 1:
        words[0] = _ELIDED.sub("", words[0])
    return _capital(_shortened(" ".join(words).strip(_EDGES), most)) or beginning(sentence, most)


def title_of_message(message: str, most: int = TITLE_CHARS) -> str:
    """The title of the question in `message`, whatever was pasted beside it; else of how the message begins."""
    longest = 1000
    return title_of(question_in(message[:100_000], longest) or beginning(message, longest), most)


def usable_title(reply: str, question: str, most: int = TITLE_CHARS) -> str | None:
    """What a model replied, as a title; None when it is none: blank, long, several lines, or about something else."""
    lines = [line for line in reply.splitlines() if line.strip()]
    title = lines[0].strip(_EDGES) if len(lines) == 1 else ""
    own = {word.casefold()[:4] for word in content_words(title)}
    said = {word.casefold()[:4] for word in content_words(question)}
    return _capital(title) if title and len(title) <= most and own & said else None


def _asking(text: str) -> str:
    """The last question of `text`, else its first sentence with a key term."""
    said = sentences(text)
    asked = [each for each in said if is_question(each) and content_words(each)]
    telling = [each for each in said if content_words(each)]
    return (asked[-1:] or telling[:1] or [text])[0]


def _unwrapped(token: str) -> str:
    """A token without brackets and quotation marks, one of which the title might lack."""
    return token.strip('()[]{}"“”„«»*_`')


def _without_ordinary(telling: list[int], tokens: list[str]) -> list[int]:
    """The places of key terms, less leading ones that any question may be built with, while two are left."""
    while len(telling) > 2 and folded(tokens[telling[0]].strip(_EDGES)) in ordinary_words():
        telling = telling[1:]
    return telling


def _tells(token: str) -> bool:
    """Whether a token is a key term or a number, such as a year."""
    return bool(content_words(token)) or any(character.isdecimal() for character in token)


def _shortened(text: str, most: int) -> str:
    """`text` in at most `most` characters, ending in a key term where words are cut off."""
    if len(text) <= most:
        return text
    words = beginning(text, most - 1).split()
    loose = len(list(takewhile(lambda word: not _tells(word), reversed(words))))
    return " ".join(words[: len(words) - loose] or words).rstrip(_EDGES) + "…"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
