"""What a chat is listed under: the key terms of its first message, then what a model makes of them."""

import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from condensery.app import App, open_app
from condensery.models.chat import ChatModel
from condensery.settings import Settings
from condensery.testing import ScriptedLLM
from condensery.ui.chat import Chat
from condensery.ui.data_layer import LOCAL_USER

MESSAGE = "How much is a ticket for a dog?"


@asynccontextmanager
async def chat_with(settings: Settings, *replies: Any) -> AsyncIterator[Chat]:
    async with open_app(settings) as app:
        model = ChatModel(ScriptedLLM(*replies), name="scripted")
        yield Chat(App(dataclasses.replace(app.services, model=model)))


async def named(chat: Chat) -> str:
    thread = await chat._threads.get("t")
    assert thread is not None
    return thread.name


async def test_a_chat_is_listed_under_its_key_terms_and_then_under_the_model_s_title(settings: Settings) -> None:
    async with chat_with(settings, "Dog ticket price") as chat:
        await chat._data_layer.update_thread("t", name=MESSAGE, user_id=LOCAL_USER)
        assert await named(chat) == "Ticket for a dog"
        await chat._retitle("t", MESSAGE, MESSAGE)
        assert await named(chat) == "Dog ticket price"
        await chat._retitle("t", "And on Sundays?", "How much is it on Sundays?")
        assert await named(chat) == "Dog ticket price"


async def test_a_name_that_a_person_gave_stays(settings: Settings) -> None:
    async with chat_with(settings, "Dog ticket price") as chat:
        await chat._data_layer.update_thread("t", name=MESSAGE, user_id=LOCAL_USER)
        await chat._data_layer.update_thread("t", name="Mine")
        await chat._retitle("t", MESSAGE, MESSAGE)
        assert await named(chat) == "Mine"
        assert not await chat._threads.rename("t", "Ticket for a dog", "Too late")
        assert await named(chat) == "Mine"


async def test_a_model_that_fails_leaves_the_key_terms(settings: Settings) -> None:
    async with chat_with(settings, RuntimeError("no such model")) as chat:
        await chat._data_layer.update_thread("t", name=MESSAGE, user_id=LOCAL_USER)
        await chat._retitle("t", MESSAGE, MESSAGE)
        assert await named(chat) == "Ticket for a dog"
