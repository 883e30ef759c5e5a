"""The chat app as somebody meets it: the real program, a real browser."""

import re
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from condensery.app import open_app
from condensery.settings import Settings
from condensery.workflows.titles import title_of_message

if TYPE_CHECKING:
    from playwright.async_api import Locator, Page

StartApp = Callable[..., AbstractContextManager[str]]
OpenPage = Callable[[str], Awaitable["Page"]]

APP = ("-c", "from condensery.cli import main; main()", "app", "--no-open")
SCRIPTED = (str(Path(__file__).with_name("scripted_app.py")),)
_OFFERED = re.compile(r"^What does “.*” say about “.*”\?$", re.MULTILINE)
ROOF = "What is new on the roof of the lower station?"


async def send(page: "Page", message: str) -> None:
    await page.fill("#chat-input", message)
    await page.click("#chat-submit:not([disabled])")


async def ask(page: "Page", message: str) -> str:
    """Send a message; returns the answer when it is whole."""
    before = await answers(page).count()
    await send(page, message)
    await answers(page).nth(before).wait_for()
    await page.wait_for_selector("#chat-submit")
    return await answers(page).nth(before).inner_text()


async def told(page: "Page") -> list[str]:
    """The answers, without the questions that are offered below the newest."""
    return [_OFFERED.sub("", text).strip() for text in await answers(page).all_inner_texts()]


def answers(page: "Page") -> "Locator":
    return page.locator("[data-step-type=assistant_message]")


def traces(page: "Page") -> "Locator":
    """The lines above the answers."""
    return page.locator("[data-step-type=tool] > div > div > .ai-message h3 button")


async def reload(page: "Page") -> None:
    await page.reload()
    await answers(page).first.wait_for()


async def open_passage(page: "Page", number: str) -> "Locator":
    """What opens beside the chat on a click on a citation of the last answer, which is a link once it has arrived."""
    from playwright.async_api import TimeoutError as PageTimeout

    passage = page.locator("#side-view-content [role=article]").first
    for _ in range(20):
        await answers(page).last.get_by_text(number, exact=True).first.click()
        with suppress(PageTimeout):
            await passage.wait_for(timeout=3000)
            return page.locator("#side-view-content")
    raise AssertionError(f"{number} opens no passage: {await answers(page).last.inner_html()}")


async def choose(page: "Page", setting: str, choice: str) -> set[str]:
    """Make a choice in the settings panel; returns all there are."""
    await page.click("#chat-settings-open-modal")
    await page.click(f"#chat-settings button#{setting}")
    options = await page.get_by_role("option").all_inner_texts()
    await page.get_by_role("option", name=choice, exact=True).click()
    await page.click("#chat-settings #confirm")
    await page.wait_for_selector("#chat-settings", state="hidden")
    return set(options)


async def change_for_all_chats(page: "Page", setting: str, value: str) -> None:
    """Change a setting of all chats in the settings panel, as `section__field`."""
    await page.click("#chat-settings-open-modal")
    await page.get_by_role("tab", name="All chats").click()
    await page.fill(f"#chat-settings input#{setting}", value)
    await page.click("#chat-settings #confirm")
    await page.wait_for_selector("#chat-settings", state="hidden")


async def delete_thread(page: "Page", name: str) -> None:
    await page.locator("#thread-history").get_by_text(name).hover()
    await page.locator("#thread-history #thread-options").click()
    await page.click("#delete-thread")
    await page.get_by_role("button", name="Confirm").click()


async def test_a_conversation_is_answered_with_evidence_and_outlives_a_reload(
    corpus_settings: Settings, start_app: StartApp, open_page: OpenPage
) -> None:
    with start_app(corpus_settings, *APP) as url:
        page = await open_page(url)
        await page.get_by_text("Answers are quoted from your documents").wait_for()
        await page.get_by_role("button", name=ROOF).click()
        await answers(page).get_by_text("Sources:").wait_for()
        assert "press-release.md" in await answers(page).inner_text()
        assert await traces(page).all_inner_texts() == ["Steps"]
        await ask(page, "How much did it cost?")
        follow_up, said = await traces(page).last.inner_text(), await answers(page).all_inner_texts()
        assert follow_up.startswith("Searched for: ")
        offered = page.get_by_role("button", name=_OFFERED)
        await offered.first.wait_for()
        assert await answers(page).count() == 2  # those under the first answer are gone
        chosen = await offered.first.inner_text()
        await offered.first.click()
        await answers(page).nth(2).get_by_text("Sources:").wait_for()
        await page.locator("[data-step-type=user_message]").get_by_text(chosen).wait_for()
        said, shown = await told(page), await traces(page).all_inner_texts()

        await reload(page)
        assert await told(page) == said
        assert await traces(page).all_inner_texts() == shown
        await page.locator("[data-step-type=user_message]").get_by_text(chosen).wait_for()
        assert not await page.locator("#side-view-content").is_visible()
        bold = await (await open_passage(page, "[1]")).locator(".font-bold").all_inner_texts()
        assert bold[0].removesuffix(".md") in said[-1]
        assert any(quote in said[-1] for quote in bold[1:])
        await traces(page).last.click()
        await page.get_by_text(re.compile(r"retrieve · \d")).wait_for()

        assert await choose(page, "engine", "simple") >= {"simple", "condense_context", "expand_context"}
        assert await choose(page, "method", "bm25") >= {"semantic", "bm25", "hybrid"}
        await ask(page, "When did they start?")
        assert await traces(page).last.inner_text() == "Steps"
        await reload(page)
        await page.click("#chat-settings-open-modal")
        assert await page.inner_text("#chat-settings button#engine") == "simple"
        assert await page.inner_text("#chat-settings button#method") == "bm25"
        await page.keyboard.press("Escape")

        await change_for_all_chats(page, "retrieval__candidates", "2")
        await page.get_by_text("retrieval.candidates must be at least retrieval.top_k").wait_for()
        await change_for_all_chats(page, "answer__max_quotes", "1")
        assert "[2]" not in await ask(page, "When is the sauna open and what does a bicycle cost?")
        async with open_app(corpus_settings) as other:
            assert other.settings.answer.max_quotes == 1
            assert other.settings.retrieval.candidates == 30

        await delete_thread(page, title_of_message(ROOF))
        await page.get_by_text("No threads found").wait_for()


async def test_stopped_failed_and_interrupted_turns_are_shown_for_what_they_are(
    corpus_settings: Settings, start_app: StartApp, open_page: OpenPage
) -> None:
    with start_app(corpus_settings, *SCRIPTED, faults=True, CONDENSERY_ANSWER__MODE="generated") as url:
        page = await open_page(url)
        await ask(page, "Which trail is the longest?")
        other = await page.context.new_page()
        await other.goto(page.url)
        await answers(other).first.wait_for()
        await send(page, "SLOW: how long is the sledge run?")
        await send(other, "SLOW: what does a sledge cost?")
        for tab in (page, other):
            await answers(tab).get_by_text("bit by bit").wait_for()
        await page.click("#stop-button")
        for tab in (page, other):
            await answers(tab).get_by_text("(stopped)").wait_for()
        await other.close()
        await reload(page)
        kept = await answers(page).all_inner_texts()
        assert [("bit by bit" in answer, "(stopped)" in answer) for answer in kept[1:]] == [(True, True)] * 2

        for failing in ("FAIL in a step: when does the museum open?", "FAIL before it: who founded it?"):
            assert "Please try again." in await ask(page, failing)
        assert "no such secret" not in await page.inner_text("body")
        assert "I was sent 3 exchanges" in await ask(page, "What did you just say?")
        await open_passage(page, "[1]")

        await choose(page, "engine", "condense_context")
        await ask(page, "THINK: and the other one?")
        told = await traces(page).last.inner_text()
        assert "⚠ Searched without a rewritten question: the model thought without coming to a question" in told
        await reload(page)
        assert await traces(page).last.inner_text() == told

        await send(page, "SLOW: who looks after the trails?")
        await answers(page).get_by_text("bit by bit").nth(2).wait_for()
        await page.reload()
        await page.get_by_text("SLOW: who looks after the trails?").wait_for()
        await page.click("#stop-button")
        await answers(page).get_by_text("(stopped)").nth(2).wait_for()
