"""Messages that ask nothing: what a person tells of themselves is acknowledged, and nothing is searched for."""

import logging
import re
from collections import Counter

from condensery.errors import CondenseryError
from condensery.memory.self_stated import self_stated
from condensery.memory.types import NewFact
from condensery.services import Services
from condensery.workflows.events import CondensedQuestion

log = logging.getLogger(__name__)

_WORDS = re.compile(r"\w+")
_AND = frozenset(["and", "but", "und", "aber", "et", "mais", "e", "ed", "ma"])


def only_told(question: CondensedQuestion) -> list[NewFact]:
    """The facts of a message that is nothing else; empty when anything is asked, or else said, and for nobody.

    A message that an engine put in other words, by what was said before, asks for something.
    """
    text = question.question
    if question.key.user_id is None or question.condensed or "?" in text:
        return []
    facts = self_stated(text)
    beside = Counter(_words(text)) - Counter(word for fact in facts for word in _words(fact.text))
    joined = sum(beside.values()) < len(facts) and beside.keys() <= _AND
    return facts if joined else []


async def acknowledged(services: Services, user_id: str, facts: list[NewFact]) -> str:
    """What is said to whoever told `facts` of themselves: that they are kept, or that memory is switched off."""
    enabled = services.settings.memory.enabled
    try:
        enabled = enabled and await services.memory_users.enabled(user_id)
    except CondenseryError as error:
        log.warning("acknowledged without knowing whether memory is on: %s", error)
    if not enabled:
        return services.prompts.text("meta.memory_off")
    return services.prompts.text("refusal.nothing_asked", facts=" ".join(fact.text for fact in facts))


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORDS.findall(text)]
