"""The facts that a person states of themselves in a message, found without a model.

A fact is a clause of the message that is put in one of the known ways (`prompts/<locale>/facts.toml`); what is not
surely a lasting fact about the person is left out. Pure, in every language at once. What counts:

- "My dog is called Rex", "my employee number is 4711" and "my manager is Ms Roth" are the person's own world; so is
  what goes on in it ("my lease ends in June", "our son plays in the U13");
- what other people are, have or do elsewhere ("my wife is a nurse", "my brother lives in Berlin") is theirs;
- how every answer should be ("always cite the page") is a fact about the person, a task is none;
- wishes, questions, feelings, plans, tasks and secrets (passwords, cards, keys) are none either.
"""

from condensery.memory.clauses import statements
from condensery.memory.reading import framed, read
from condensery.memory.types import NewFact

MOST_FACTS = 12
"""In one message; more is a list that was pasted."""


def self_stated(message: str) -> list[NewFact]:
    """The facts that `message` states, each a sentence in the first person, in order and in its own words."""
    facts: dict[str, NewFact] = {}
    for stated in statements(message):
        if not stated.refers and (reading := framed(stated.text.rstrip("."), stated.grammar)):
            facts.setdefault(stated.text, NewFact(text=stated.text, slot=reading.slot))
    return list(facts.values())[:MOST_FACTS]


def slot_of(text: str) -> str | None:
    """What `text`, one fact, is an answer to when there is one answer at a time; None when it is one among many."""
    return read(text).slot
