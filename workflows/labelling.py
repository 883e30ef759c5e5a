"""A model chooses a label: what it is asked, which examples it is shown, and how its reply is read."""

from collections.abc import Sequence
from typing import Any

from llama_index.core.llms import ChatMessage, MessageRole
from pydantic import BaseModel, ConfigDict

from condensery.models.chat import ChatModel
from condensery.prompts.loader import Prompts
from condensery.retrieval.text import inert
from condensery.workflows.few_shot import Neighbour

IN_PROMPT = 12
"""Examples that a model reads: the nearest, whatever their label, and then the nearest of every other label."""
REPLY_TOKENS = 256


async def chosen_label(
    model: ChatModel, prompts: Prompts, question: str, examples: Sequence[Neighbour], labels: Sequence[str]
) -> str:
    """The one of `labels` that `model` gives to `question` after reading `examples`, nearest first.

    Raises `ProviderError`, and ValueError when the reply names none of them.
    """
    prompt = prompts.render(
        "classify",
        labels=", ".join(labels),
        examples="\n".join(f"- {each.label}: {inert(each.text)}" for each in reversed(examples)),
        question=inert(question),
    )
    asked = [ChatMessage(role=MessageRole.USER, content=prompt)]
    reply = await model.complete(asked, max_tokens=REPLY_TOKENS, json_schema=label_schema(labels))
    return label_in(reply.text, labels)


def to_show(nearest: Sequence[Neighbour]) -> tuple[Neighbour, ...]:
    """Of all examples, nearest first, those that a model is shown."""
    shown = list(nearest[:IN_PROMPT])
    there = {each.label for each in shown}
    for each in nearest[IN_PROMPT:]:
        if each.label not in there:
            there.add(each.label)
            shown.append(each)
    return tuple(shown)


class _Reply(BaseModel):
    model_config = ConfigDict(extra="ignore")

    label: str


def label_schema(labels: Sequence[str]) -> dict[str, Any]:
    """The JSON schema of a reply that names one of `labels`."""
    return {
        "type": "object",
        "properties": {"label": {"type": "string", "enum": list(labels)}},
        "required": ["label"],
        "additionalProperties": False,
    }


def label_in(reply: str, labels: Sequence[str]) -> str:
    """The label that `reply` names, in whatever case; raises ValueError when it is none of `labels`."""
    said = _Reply.model_validate_json(reply).label.strip()
    if said in labels:
        return said
    alike = [label for label in labels if label.casefold() == said.casefold()]
    if len(alike) != 1:
        raise ValueError("the reply names none of the labels")
    return alike[0]
