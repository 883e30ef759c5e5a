"""Messages to the prompt of a model, by the model's own chat template, also where that template is narrow-minded."""

import re
from collections.abc import Callable, Iterator, Sequence

from jinja2 import TemplateError
from llama_index.core.base.llms.types import ChatMessage

from condensery.errors import ProviderError

Message = dict[str, str]
Template = Callable[[Sequence[Message]], str]
_OPENS_THINKING = re.compile(r"<think(?:ing)?>\s*$")
_ZERO_WIDTH_SPACE = "\u200b"


def render(messages: Sequence[ChatMessage], template: Template, control_texts: Sequence[str] = ()) -> str:
    """Return the prompt for `messages`.

    Some templates know no system role, take it at the start only, or want user and assistant to alternate: the
    messages are then rearranged, never dropped. Text that would be read as one of `control_texts` (a document that
    holds `<|im_end|>`) is made harmless. Raises `ProviderError` when the template accepts no arrangement.
    """
    plain = [_message(message, control_texts) for message in messages]
    prompt = None
    for arrangement in _arrangements(plain):
        prompt = _try(template, arrangement)
        if prompt is not None and _carries(prompt, arrangement):
            return prompt
    if prompt is not None:  # user and assistant only, and still not verbatim: the template rewrites what it is given
        return prompt
    raise ProviderError("the model's chat template refuses these messages; the last one must be the user's")


def opens_thinking(prompt: str) -> bool:
    """Whether the template ends with an opened reasoning block, so that the reply starts inside it."""
    return _OPENS_THINKING.search(prompt) is not None


def _message(message: ChatMessage, control_texts: Sequence[str]) -> Message:
    return {"role": message.role.value, "content": defuse((message.content or "").strip(), control_texts)}


def defuse(text: str, control_texts: Sequence[str]) -> str:
    """Put a zero-width space after the first character of every control text in `text`."""
    for control in control_texts:
        if control in text:
            text = text.replace(control, control[0] + _ZERO_WIDTH_SPACE + control[1:])
    return text


def _arrangements(messages: list[Message]) -> Iterator[list[Message]]:
    yield messages
    system = [m for m in messages if m["role"] == "system"]
    others = _merged([m for m in messages if m["role"] != "system"])
    yield _merged(system) + others
    yield _merged([{**m, "role": "user"} for m in system] + others)


def _merged(messages: Sequence[Message]) -> list[Message]:
    """Join neighbours of the same role, separated by a blank line."""
    merged: list[Message] = []
    for message in messages:
        if merged and merged[-1]["role"] == message["role"]:
            merged[-1] = {**message, "content": f"{merged[-1]['content']}\n\n{message['content']}"}
        else:
            merged.append(message)
    return merged


def _try(template: Template, messages: Sequence[Message]) -> str | None:
    try:
        return template(messages)
    except (TemplateError, ValueError, TypeError):
        return None


def _carries(prompt: str, messages: Sequence[Message]) -> bool:
    """Whether nothing was dropped; a template may cut old replies (their reasoning), never what it was told."""
    return all(message["content"] in prompt for message in messages if message["role"] != "assistant")
