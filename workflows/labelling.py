"""What a model is asked for when it is to choose a label, and how its reply is read. Pure functions."""

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict


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
