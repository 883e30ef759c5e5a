"""Who finds the facts that a person states in a question: rules, a model, or a model with mem0's own prompt."""

import asyncio
import logging
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from llama_index.core.llms import ChatMessage, MessageRole
from pydantic import BaseModel, ConfigDict, ValidationError

from condensery.errors import ConfigError, ProviderError
from condensery.memory.attribution import leaves_open, supported
from condensery.memory.languages import grammars_for
from condensery.memory.merging import Skip, decide
from condensery.memory.self_stated import self_stated, slot_of
from condensery.memory.types import LONGEST_FACT, Fact, NewFact
from condensery.models.chat import ChatModel, InputTooLarge
from condensery.prompts.loader import Prompts, prompts_for
from condensery.retrieval.text import beginning, inert, is_blank, one_line
from condensery.settings import Memory
from condensery.workflows.own_words import own_words

log = logging.getLogger(__name__)

MOST_FACTS = 12
ANSWER_CHARS = 1200
"""Characters of the answer that a prompt begins with; it only says what "there" and "it" are."""
SMALLEST_WINDOW = 16_384
"""Tokens that a model's window needs for mem0's own prompt, which has about 8,000."""
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"facts": {"type": "array", "items": {"type": "string"}, "maxItems": MOST_FACTS}},
    "required": ["facts"],
    "additionalProperties": False,
}


_IN_OUR_FORM = (
    "Write every fact in the first person, in the user's own words and language, and reply with JSON: "
    '{"facts": ["…"]}.'
)


class MalformedExtraction(ProviderError):
    """A model gave no list of facts, twice."""


class FactExtractor(Protocol):
    """Finds the facts that a question states about whoever asks. Raises `ProviderError`."""

    async def extract(self, question: str, answer: str) -> list[NewFact]: ...


class RuleExtractor:
    """The facts that are put in a known way, found without a model."""

    async def extract(self, question: str, answer: str) -> list[NewFact]:
        """The facts of `question`; `answer` is not looked at."""
        return self_stated(question)


class ModelExtractor:
    """The facts that a model finds and the question carries, together with those the rules find."""

    def __init__(self, model: ChatModel, prompts: Prompts, *, max_tokens: int) -> None:
        self._model = model
        self._prompts = prompts
        self._max_tokens = max_tokens

    async def extract(self, question: str, answer: str) -> list[NewFact]:
        """The facts of `question`, those of the rules first.

        A question costs no call that states nothing beside what the rules read: it could support no other fact. Raises
        `MalformedExtraction` after two replies that are no list of facts, `InputTooLarge` when the question alone does
        not fit the model.
        """
        found = self_stated(question)
        if not leaves_open(question):
            return found
        told = await self._said_by_model(one_line(own_words(question)), answer)
        return united(found, told, question, answer)

    async def _said_by_model(self, question: str, answer: str) -> list[str]:
        for attempt in (1, 2):
            try:
                return _facts_in(await self._reply(question, answer))
            except ValidationError:
                log.warning("%s gave no list of facts (try %d of 2)", self._model.name, attempt)
        raise MalformedExtraction(
            f"{self._model.name} gave no list of facts, twice; "
            "a larger memory.max_output_tokens or another memory.model may help"
        )

    async def _reply(self, question: str, answer: str) -> str:
        """The reply to the longest prompt that fits: the answer is cut, then left out, the question never."""
        refused: InputTooLarge | None = None
        for prompt in self._prompts_of(question, answer):
            try:
                reply = await self._model.complete(
                    prompt, max_tokens=self._max_tokens, json_schema=SCHEMA, background=True
                )
            except InputTooLarge as error:
                refused = error
            else:
                return reply.text
        raise refused or InputTooLarge("the question does not fit the model that finds facts")

    def _prompts_of(self, question: str, answer: str) -> Iterator[list[ChatMessage]]:
        line, most = one_line(answer), ANSWER_CHARS
        while True:
            yield self._prompt(question, beginning(line, most))
            if not line or most == 0:
                return
            most = 0 if most < ANSWER_CHARS // 4 else min(most, len(line)) // 2

    def _prompt(self, question: str, answer: str) -> list[ChatMessage]:
        """In the language of the question, whichever the locale: a small model answers in that of its prompt."""
        spoken = grammars_for(question, question)[0].locale
        prompts = self._prompts if spoken == self._prompts.locale else prompts_for(spoken)
        text = prompts.render("extract", question=inert(question), answer=inert(answer))
        return [ChatMessage(role=MessageRole.USER, content=text)]


class Mem0Extractor(ModelExtractor):
    """As `ModelExtractor`, with mem0's own prompt, which needs a large window."""

    def __init__(self, model: ChatModel, prompts: Prompts, *, max_tokens: int, data_dir: Path) -> None:
        super().__init__(model, prompts, max_tokens=max_tokens)
        self._data_dir = data_dir
        self._instructions = ""

    async def extract(self, question: str, answer: str) -> list[NewFact]:
        """As `ModelExtractor.extract`; the first call imports mem0, which takes seconds."""
        if not self._instructions:
            self._instructions = await asyncio.to_thread(_instructions_of_mem0, self._data_dir)
        return await super().extract(question, answer)

    def _prompt(self, question: str, answer: str) -> list[ChatMessage]:
        said = f"<question>{inert(question)}</question>\n<answer>{inert(answer)}</answer>\n\n{_IN_OUR_FORM}"
        return [
            ChatMessage(role=MessageRole.SYSTEM, content=self._instructions),
            ChatMessage(role=MessageRole.USER, content=said),
        ]


def _instructions_of_mem0(data_dir: Path) -> str:
    from condensery.memory.mem0_home import import_mem0

    import_mem0(data_dir)
    return str(import_module("mem0.configs.prompts").ADDITIVE_EXTRACTION_PROMPT)


def open_extractor(
    settings: Memory, model: ChatModel | None, prompts: Prompts, data_dir: Path | None = None
) -> FactExtractor:
    """Return what finds facts under `settings`; `model` is the one they name, None when there is none.
    `data_dir` is where mem0 keeps to, for its own prompt.

    Raises `ConfigError` for an extraction that needs a model, or a larger window, than there is.
    """
    choice = settings.extraction
    if choice == "rules" or (choice == "auto" and (model is None or not model.capable)):
        return RuleExtractor()
    if model is None:
        raise ConfigError(f"memory.extraction is '{choice}', but there is no model; set memory.model or llm.model")
    if choice == "mem0" and model.context_window < SMALLEST_WINDOW:
        raise ConfigError(
            f"memory.extraction is 'mem0', whose prompt needs a window of {SMALLEST_WINDOW} tokens, but "
            f"{model.name} has {model.context_window}; set memory.extraction to 'llm', or choose a larger model"
        )
    if choice == "mem0":
        home = data_dir or Path(tempfile.gettempdir()) / "condensery"
        return Mem0Extractor(model, prompts, max_tokens=settings.max_output_tokens, data_dir=home)
    return ModelExtractor(model, prompts, max_tokens=settings.max_output_tokens)


def united(found: Sequence[NewFact], told: Iterable[str], question: str, answer: str) -> list[NewFact]:
    """`found` and, of what a model `told`, whatever the question carries and `found` does not say."""
    facts = list(found)
    for text in map(one_line, told):
        if is_blank(text) or len(text) > LONGEST_FACT or not supported(text, question, answer):
            continue
        new = NewFact(text=text if text[-1] in ".!" else f"{text}.", slot=slot_of(text))
        known = [Fact(id=str(at), **fact.model_dump()) for at, fact in enumerate(facts)]
        if not isinstance(decide(new, known), Skip):
            facts.append(new)
    return facts


class _Reply(BaseModel):
    model_config = ConfigDict(extra="ignore")

    facts: list[str]


def _facts_in(reply: str) -> list[str]:
    """The facts of `reply`; raises `ValidationError` for anything but a list of texts."""
    return _Reply.model_validate_json(reply).facts[:MOST_FACTS]
