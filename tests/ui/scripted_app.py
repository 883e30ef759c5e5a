"""The chat app with a scripted model, whose answers can be slow, and with faults that a message can call for."""

from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

from llama_index.core.base.llms.types import ChatMessage

from condensery.app import App
from condensery.models.chat import ChatModel
from condensery.services import Services
from condensery.settings import load_settings
from condensery.testing import ScriptedLLM
from condensery.ui.launch import run
from condensery.workflows.events import ChatStart
from condensery.workflows.own_words import question_in

with_history = App._with_history


def reply(messages: Sequence[ChatMessage]) -> str:
    """What tells what came before; when the message says so, a slow answer, or thoughts that lead nowhere."""
    if "THINK" in (messages[-1].content or ""):
        return "<think>and on and on"
    if "SLOW" in (messages[-1].content or ""):
        return "It comes bit by bit [1]. " + "And on it goes. " * 2000
    answers = [message for message in messages if message.role == "assistant"]
    return f"I was sent {len(answers)} exchanges [1]."


def failing_step(message: str, *limits: Any) -> Any:
    if "FAIL in a step" in message:
        raise RuntimeError("no such secret")
    return question_in(message, *limits)


async def failing_start(app: App, start: ChatStart, services: Services) -> ChatStart:
    if "FAIL before it" in start.message:
        raise RuntimeError("no such secret")
    return await with_history(app, start, services)


model = ScriptedLLM(reply, delay_seconds=0.05, piece_chars=8)
with (
    patch("condensery.services.open_chat_model", lambda _: ChatModel(model, name="scripted", context_window=4096)),
    patch("condensery.workflows.condense.question_in", failing_step),
    patch.object(App, "_with_history", failing_start),
):
    run(load_settings(), open_browser=False)
