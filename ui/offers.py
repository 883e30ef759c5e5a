"""Questions to ask next, as buttons under the newest answer."""

from collections.abc import Sequence
from typing import Any

import chainlit as cl

from condensery.retrieval.text import is_blank
from condensery.ui.page import Page

ASK = "ask"
"""The name of the buttons' action."""
SHOWN = "questions that are offered"


async def offer(page: Page, answer_id: str, questions: Sequence[str]) -> None:
    """Put a button for each question under an answer."""
    for number, question in enumerate(questions):
        button = cl.Action(
            name=ASK, payload={"question": question}, label=question, id=f"{answer_id}.ask.{number}", forId=answer_id
        )
        await page.emit("action", button.to_dict())
        cl.user_session.set(SHOWN, [*_shown(), button.to_dict()])  # type: ignore[no-untyped-call]  # Chainlit's


async def take_back(page: Page) -> None:
    """Remove the buttons that this session shows: what they offer belongs to the answer before."""
    for button in _shown():
        await page.emit("remove_action", button)
    cl.user_session.set(SHOWN, [])  # type: ignore[no-untyped-call]  # Chainlit's


async def said(action: cl.Action) -> cl.Message | None:
    """The click as a message of the person's, on the page; None for a button that asks nothing."""
    question = str(action.payload.get("question", ""))
    if is_blank(question):
        return None
    message = cl.Message(content=question, type="user_message", author="User")
    await message.send()  # type: ignore[no-untyped-call]  # Chainlit's
    return message


def _shown() -> list[dict[str, Any]]:
    return cl.user_session.get(SHOWN) or []  # type: ignore[no-untyped-call]  # Chainlit's
