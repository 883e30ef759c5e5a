"""What the assistant tells about itself: read off its steps, its settings, the index and the memory, with no model."""

import logging
import shlex
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from condensery.memory.control import MemoryState
from condensery.memory.types import Fact
from condensery.prompts.loader import Prompts, prompts_for
from condensery.retrieval.types import Scope
from condensery.services import Services
from condensery.storage.documents import DocumentRecord
from condensery.tracing import surviving
from condensery.workflows.events import MetaQuestion

log = logging.getLogger(__name__)
T = TypeVar("T")

MOST_NAMES = 20
MOST_FACTS = 50
MEMORY_SECONDS = 5.0
"""Longest time that looking into the memory may take before the reply says that it could not be done."""


@dataclass(frozen=True)
class Asked:
    """A question about the assistant, and whom it is put to: an agent with these steps and services."""

    question: MetaQuestion
    services: Services
    steps: Collection[str]

    @property
    def searches(self) -> bool:
        """Whether the agent answers from documents."""
        return "retrieve" in self.steps

    @property
    def prompts(self) -> Prompts:
        """The texts of the language that was asked in."""
        return prompts_for(self.question.locale)


async def reply_to(asked: Asked) -> str:
    """The reply, in the language of the question: small talk, or what there is to tell."""
    kind = asked.question.kind
    if tell := TOLD.get(kind):
        return await tell(asked)
    return asked.prompts.text(f"{'small_talk' if asked.question.small_talk else 'meta'}.{kind}")


# --- "What can you do?" ---


class Facing(NamedTuple):
    """What decides which abilities there are: settings of the turn, and what index and memory hold for who asks."""

    documents: int
    rewrites: bool
    writes: bool
    guarded: bool
    experts: bool
    memory: MemoryState | None


class Ability(NamedTuple):
    """A line of the reply: the text `meta.can_<name>`, the step that it takes, and when it is so."""

    name: str
    step: str
    holds: Callable[[Facing], bool]


ABILITIES = (
    Ability("answer", "retrieve", lambda facing: facing.documents > 0),
    Ability("follow_up", "condense", lambda facing: facing.documents > 0 and facing.rewrites),
    Ability("write", "answer", lambda facing: facing.documents > 0 and facing.writes),
    Ability("quote", "answer", lambda facing: facing.documents > 0 and not facing.writes),
    Ability("talk", "converse", lambda facing: facing.writes),
    Ability("ask_expert", "ask_consent", lambda facing: facing.experts),
    Ability("refuse", "few_shot_guard", lambda facing: facing.guarded),
    Ability("remember", "remember", lambda facing: facing.memory is not None and facing.memory.on),
    Ability("not_remember", "remember", lambda facing: facing.memory is not None and not facing.memory.on),
)
"""In the order in which they are told."""


def abilities(steps: Collection[str], facing: Facing) -> list[str]:
    """The names of what an agent with these steps can do as things are."""
    return [ability.name for ability in ABILITIES if ability.step in steps and ability.holds(facing)]


async def _capabilities(asked: Asked) -> str:
    services, options = asked.services, asked.question.options
    settings, memory = services.settings, None
    documents = await _searched(asked)
    if user := asked.question.key.user_id:
        memory = await _looked_up(services.memory_control.state(user))
    facing = Facing(
        documents=len(documents),
        rewrites=settings.condense.enabled and (options.engine or settings.condense.engine) != "simple",
        writes=services.answer_model is not None,
        guarded=services.question_guard is not None and settings.few_shot.enabled,
        experts=settings.experts.offers,
        memory=memory,
    )
    method, count = services.plan(options.method).name, _counted(asked.prompts, len(documents))
    variables = {"answer": {"documents": count, "method": method}}
    lines = [
        asked.prompts.text(f"meta.can_{name}", **variables.get(name, {})) for name in abilities(asked.steps, facing)
    ]
    nothing = [] if documents or not asked.searches else [asked.prompts.text("meta.no_documents")]
    return _listed(asked.prompts.text("meta.capabilities"), lines, *nothing)


# --- "Which documents do you know?" ---


def known_in(documents: Sequence[DocumentRecord], scope: Scope) -> list[DocumentRecord]:
    """The documents that a search within `scope` may find something in."""

    def value(document: DocumentRecord, key: str) -> str | None:
        own = {"source": document.source, "title": document.title, "namespace": document.namespace}
        return own[key] if key in own else document.metadata.get(key)

    return [
        document
        for document in documents
        if (not scope.namespaces or document.namespace in scope.namespaces)
        and all(value(document, key) == wanted for key, wanted in scope.filters.items())
    ]


async def _searched(asked: Asked) -> list[DocumentRecord]:
    """The documents of the turn's scope, for an agent that searches."""
    return known_in(await asked.services.documents.list(), asked.question.options.scope) if asked.searches else []


async def _documents(asked: Asked) -> str:
    documents = await _searched(asked)
    if not asked.searches:
        return asked.prompts.text("meta.can_talk")
    if not documents:
        return asked.prompts.text("meta.no_documents")
    names = [" ".join((document.title or document.source).split()) for document in documents]
    more = ["…"] if len(names) > MOST_NAMES else []
    count = _counted(asked.prompts, len(names))
    return asked.prompts.text("meta.documents", documents=count, names=", ".join(names[:MOST_NAMES] + more))


def _counted(prompts: Prompts, documents: int) -> str:
    return prompts.text("meta.one_document") if documents == 1 else prompts.text("meta.count", count=str(documents))


# --- "What do you remember about me?" ---


async def _memory(asked: Asked) -> str:
    user, control = asked.question.key.user_id, asked.services.memory_control
    if user is None:
        return asked.prompts.text("meta.memory_of_nobody")
    state = await _looked_up(control.state(user))
    facts = await _looked_up(control.list(user)) if state else None
    if state is None or facts is None:
        return asked.prompts.text("meta.memory_failed")
    return told(state, facts, asked.prompts, default_user=asked.services.settings.memory.user)


def told(state: MemoryState, facts: Sequence[Fact], prompts: Prompts, *, default_user: str) -> str:
    """The facts of one user, the newest first, whether memory is on, and how to erase them."""
    off = [] if state.on else [prompts.text("meta.memory_off")]
    waiting = [prompts.text("meta.memory_waiting")] if state.waiting and state.on else []
    if not facts:
        return "\n\n".join([*off, prompts.text("meta.memory_none" if state.on else "meta.memory_empty"), *waiting])
    lines = [" ".join(fact.text.split()) for fact in facts[:MOST_FACTS]] + ["…"] * (len(facts) > MOST_FACTS)
    whose = "" if state.user_id == default_user else f" --user {shlex.quote(state.user_id)}"
    erasing = prompts.text("meta.memory_erasing", user=whose)
    return "\n\n".join([*off, _listed(prompts.text("meta.memory"), lines, *waiting, erasing)])


async def _looked_up(look: Awaitable[T]) -> T | None:
    """What a look into the memory finds; None, with the reason in the stage's note, when it fails or takes too long."""
    async with surviving("the memory was not looked into", what="the memory", seconds=MEMORY_SECONDS):
        return await look
    return None


def _listed(head: str, lines: Sequence[str], *after: str) -> str:
    listed = "\n".join(f"- {line}" for line in lines)
    return "\n\n".join(filter(None, [head if lines else "", listed, *after]))


TOLD: dict[str, Callable[[Asked], Awaitable[str]]] = {
    "capabilities": _capabilities,
    "documents": _documents,
    "memory": _memory,
}
"""The kinds of question whose reply is more than one text."""
