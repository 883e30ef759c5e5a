"""What a chat model gives back, and how it refuses."""

from typing import Literal

from condensery.errors import ProviderError
from condensery.retrieval.types import Frozen

FinishReason = Literal["stop", "length"]


class Reply(Frozen):
    """A finished reply, cleaned. `length`: it was cut by `max_tokens`.

    `unfinished_thinking`: the model spent its tokens on reasoning and wrote no answer; `text` is then empty.
    """

    text: str
    finish_reason: FinishReason = "stop"
    unfinished_thinking: bool = False


class InputTooLarge(ProviderError):
    """The prompt and the tokens reserved for the reply do not fit the model's window; nothing was cut."""


def input_too_large(*, prompt_tokens: int, max_tokens: int, window: int) -> InputTooLarge:
    """The error with its numbers and the way out."""
    return InputTooLarge(
        f"the prompt has {prompt_tokens} tokens and {max_tokens} are reserved for the reply, but the model's window "
        f"holds {window}; shorten the input, or raise llm.context_window if the model allows it"
    )
