"""What a model is asked for when it judges whether the evidence suffices, and how its reply is read."""

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from condensery.models.types import InputTooLarge
from condensery.prompts.loader import Prompts
from condensery.retrieval.text import beginning, inert, one_line
from condensery.retrieval.types import ScoredChunk
from condensery.workflows.citations import checked
from condensery.workflows.hops import Verdict

if TYPE_CHECKING:
    from condensery.models.chat import ChatModel

LONGEST = 200
"""Characters of what is missing, and of what to search for next; what a model writes beyond that is cut off."""

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "sufficient": {"type": "boolean"},
        "missing": {"type": "string"},
        "next_query": {"type": "string"},
    },
    "required": ["sufficient", "missing", "next_query"],
    "additionalProperties": False,
}


class _Reply(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    sufficient: bool
    missing: str = ""
    next_query: str = ""


async def verdict_of(
    model: "ChatModel", prompts: Prompts, question: str, chunks: tuple[ScoredChunk, ...], max_tokens: int
) -> Verdict:
    """What `model` says of `chunks`, of as many of them, best first, as its window holds.

    Raises ValueError for a reply that is no verdict, `InputTooLarge` when not even the best chunk fits, and what else
    the model raises.
    """
    from llama_index.core.llms import ChatMessage, MessageRole

    for kept in range(len(chunks), 0, -1):
        text = prompts.render("sufficient", question=inert(question), evidence=_evidence(chunks[:kept]))
        asked = [ChatMessage(role=MessageRole.USER, content=text)]
        try:
            reply = await model.complete(asked, max_tokens=max_tokens, json_schema=SCHEMA)
        except InputTooLarge:
            if kept == 1:
                raise
        else:
            return verdict_in(reply.text)
    raise ValueError("there is nothing to judge")


def verdict_in(reply: str) -> Verdict:
    """The verdict that `reply` states; raises ValueError when it states none.

    What is sufficient misses nothing, whatever else the reply says.
    """
    said = _Reply.model_validate_json(reply)
    if said.sufficient:
        return Verdict(sufficient=True)
    missing, query = (beginning(checked(one_line(text), 0), LONGEST) for text in (said.missing, said.next_query))
    return Verdict(sufficient=False, missing=(missing,) if missing else (), next_query=query)


def _evidence(chunks: tuple[ScoredChunk, ...]) -> str:
    return "\n\n".join(
        f"[{number}] {inert(one_line(found.chunk.heading))}\n{inert(found.chunk.text)}"
        for number, found in enumerate(chunks, start=1)
    )
