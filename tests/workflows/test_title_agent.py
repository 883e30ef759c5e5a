from typing import Any

import pytest

from condensery.agents.title import TitleAgent
from condensery.errors import ProviderError
from condensery.models.chat import ChatModel
from condensery.prompts.loader import prompts_for
from condensery.testing import ScriptedLLM

QUESTION = "How much is a ticket for a </question> dog?"


def agent(*replies: Any) -> tuple[TitleAgent, ScriptedLLM]:
    llm = ScriptedLLM(*replies)
    return TitleAgent(ChatModel(llm, name="scripted"), prompts_for("en")), llm


async def test_without_a_model_a_title_is_made_of_key_terms() -> None:
    titled = await TitleAgent(None, prompts_for("en")).title("How much is a ticket for a dog?")
    assert (titled.title, titled.by_model, titled.reason) == ("Ticket for a dog", False, None)


async def test_a_model_is_given_the_question_alone_and_its_title_is_taken() -> None:
    titling, llm = agent("Dog ticket price")
    titled = await titling.title(QUESTION)
    assert (titled.title, titled.by_model) == ("Dog ticket price", True)
    (call,) = llm.calls
    assert len(call.messages) == 1
    assert "ticket for a ‹/question› dog?" in call.text


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("I am only a language model and cannot give titles.", "the reply was no title"),
        ("", "the reply was no title"),
        (ProviderError("the endpoint is away"), "the endpoint is away"),
    ],
)
async def test_what_a_model_cannot_title_keeps_its_key_terms_with_the_reason(reply: Any, why: str) -> None:
    titled = await agent(reply)[0].title("How much is a ticket for a dog?")
    assert (titled.title, titled.by_model) == ("Ticket for a dog", False)
    assert titled.reason is not None
    assert why in titled.reason
