"""What a person may ask next, taken from what the evidence of the last answer can answer, and from nothing else."""

import asyncio
import logging
import re
from collections.abc import Sequence
from itertools import islice

from llama_index.core.llms import ChatMessage, MessageRole
from pydantic import BaseModel, ConfigDict, ValidationError

from condensery.errors import ProviderError
from condensery.models.chat import ChatModel
from condensery.retrieval.text import inert, one_line
from condensery.retrieval.types import Chunk, ScoredChunk
from condensery.services import Services
from condensery.workflows.engines.wording import Vocabulary, content_words
from condensery.workflows.turn import Outcome, Turn

log = logging.getLogger(__name__)

LONGEST = 120
"""Characters of a suggestion."""
SECONDS = 30.0
"""Longest time a model may take; it lets whoever waits for an answer go first."""
REPLY_TOKENS = 256
PASSAGE_CHARS = 900

_NUMBERED = re.compile(r"^[\dIVX]+(?:\.\d+)*[.)]\s+")


async def suggestions(turn: Turn, services: Services, most: int) -> list[str]:
    """At most `most` questions that the evidence of `turn` answers, in the language of `services.prompts`.

    A capable model puts them; without one, or when it fails, they name the sections that the answer did not quote.
    None for a turn that was not answered from documents. What fails is nothing suggested, with the reason in the log.
    """
    if most < 1 or turn.outcome is not Outcome.ANSWERED or not turn.evidence:
        return []
    candidates = await _by_model(turn, services, most) or sections(turn, services)
    answerable = [each for each in candidates if await _is_answered(each, turn.evidence, services)]
    return answerable[:most]


def sections(turn: Turn, services: Services) -> list[str]:
    """A question for each section that the evidence is from and the answer is not, the best first."""
    quoted = {citation.chunk_id for citation in turn.citations}
    told = {_section(found.chunk) for found in turn.evidence if found.chunk.id in quoted}
    left = dict.fromkeys(_section(found.chunk) for found in turn.evidence)
    asked = Vocabulary(_asked_in(turn))
    named = [
        services.prompts.text("suggest.section", topic=topic, title=title)
        for title, topic in left
        if topic and (title, topic) not in told and not all(map(asked.has, content_words(topic)))
    ]
    return [each for each in named if len(each) <= LONGEST]


def _asked_in(turn: Turn) -> str:
    """The standalone question of an answered turn; without one the message itself was searched with."""
    return turn.question or one_line(turn.message)


def _section(chunk: Chunk) -> tuple[str, str]:
    """The title of the document and the heading of the section, as a sentence may name them."""
    return one_line(chunk.title or chunk.source), _named(chunk.heading or "")


def _named(heading: str) -> str:
    plain = _NUMBERED.sub("", one_line(heading)).strip(" .:–-")
    return plain.capitalize() if plain.isupper() else plain


async def _is_answered(question: str, evidence: Sequence[ScoredChunk], services: Services) -> bool:
    return bool(await services.quoter.quote(question, evidence, limit=1))


# --- by a model ---


class _Reply(BaseModel):
    model_config = ConfigDict(extra="ignore")

    questions: list[str]


async def _by_model(turn: Turn, services: Services, most: int) -> list[str]:
    model = services.answer_model
    if model is None:
        return []
    try:
        async with asyncio.timeout(SECONDS):
            return usable(await _asked(model, turn, services, most), turn)
    except TimeoutError:
        log.warning("the model suggested nothing within %g seconds", SECONDS)
    except ProviderError as error:
        log.warning("the model suggested nothing: %s", error)
    except ValidationError:
        log.warning("the model suggested nothing: its reply is no list of questions")
    return []


async def _asked(model: ChatModel, turn: Turn, services: Services, most: int) -> list[str]:
    """What the model suggests; raises `ProviderError`, and `ValidationError` for a reply of another form."""
    passages = "\n\n".join(inert(found.chunk.text[:PASSAGE_CHARS]) for found in islice(turn.evidence, most))
    prompt = services.prompts.render("suggest", question=inert(_asked_in(turn)), passages=passages, most=str(most))
    schema = {
        "type": "object",
        "properties": {"questions": {"type": "array", "items": {"type": "string"}, "maxItems": most}},
        "required": ["questions"],
        "additionalProperties": False,
    }
    asked = [ChatMessage(role=MessageRole.USER, content=prompt)]
    reply = await model.complete(asked, max_tokens=REPLY_TOKENS, json_schema=schema, background=True)
    return _Reply.model_validate_json(reply.text).questions


def usable(questions: Sequence[str], turn: Turn) -> list[str]:
    """Those that are one question on one line, about the evidence, and not what was asked already."""
    seen = Vocabulary(" ".join(found.chunk.text for found in turn.evidence))
    asked = Vocabulary(_asked_in(turn))
    kept: dict[str, None] = {}
    for question in questions:
        text = one_line(question)
        words = content_words(text)
        known = sum(map(seen.has, words))
        is_new = any(not asked.has(word) for word in words)
        if text.endswith("?") and len(text) <= LONGEST and words and is_new and 2 * known >= len(words):
            kept[text] = None
    return list(kept)
