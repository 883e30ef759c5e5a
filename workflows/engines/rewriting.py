"""The prompt that asks for a standalone question: rules, conversations that show how, then the one at hand.

Rules and examples are the same for every conversation, and a conversation only grows at its end: a local model reads
each part once. Answers are cut short, since a rewrite needs what was talked about and not all that was said of it.
"""

from collections.abc import Iterator, Sequence

from llama_index.core.llms import ChatMessage, MessageRole

from condensery.prompts.loader import Prompts
from condensery.retrieval.text import beginning, one_line
from condensery.workflows.turn import Exchange

QUESTION_CHARS = 300
ANSWER_CHARS = 160
LAST_ANSWER_CHARS = 240
"""Characters kept of each earlier question, of each answer, and of the last answer."""


def prompts_of(prompts: Prompts, message: str, history: Sequence[Exchange]) -> Iterator[list[ChatMessage]]:
    """The prompt, then ever shorter ones: without the oldest exchanges, then without the examples as well."""
    for examples in (_examples(prompts), []):
        for dropped in range(len(history) + 1):
            yield [
                ChatMessage(role=MessageRole.SYSTEM, content=prompts.render("rewriting")),
                *examples,
                _asked(prompts, message, history[dropped:]),
            ]


def _examples(prompts: Prompts) -> list[ChatMessage]:
    messages = []
    for example in prompts.rewriting["examples"]:
        history = [Exchange(message=asked, answer=answer) for asked, answer in example["conversation"]]
        messages.append(_asked(prompts, example["message"], history))
        messages.append(ChatMessage(role=MessageRole.ASSISTANT, content=example["question"]))
    return messages


def _asked(prompts: Prompts, message: str, history: Sequence[Exchange]) -> ChatMessage:
    text = prompts.render("condense", conversation=transcript(prompts, history), message=message)
    return ChatMessage(role=MessageRole.USER, content=text)


def transcript(prompts: Prompts, history: Sequence[Exchange]) -> str:
    """Both sides of the conversation, line by line."""
    names = prompts.rewriting
    lines = []
    for at, exchange in enumerate(history, start=1):
        most = LAST_ANSWER_CHARS if at == len(history) else ANSWER_CHARS
        lines += [f"{names['person']}: {_short(exchange.message, QUESTION_CHARS)}"]
        lines += [f"{names['assistant']}: {_short(exchange.answer, most)}"]
    return "\n".join(lines)


def _short(text: str, most: int) -> str:
    """`text` on one line; its beginning, and a sign that there was more, when it is long."""
    line = one_line(text)
    return line if len(line) <= most else f"{beginning(line, most)} …"
