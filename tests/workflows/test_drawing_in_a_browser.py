"""The page of a drawing as a browser shows it: no words collide, nothing is fetched, hovering tells more."""

import os
import shutil
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from condensery.agents.rag import RAGAgent
from condensery.workflows.drawing import draw

if TYPE_CHECKING:
    from playwright.sync_api import Page

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PLACES = """() => [...document.querySelectorAll("svg.drawing text")].map(text => {
    const box = text.getBoundingClientRect();
    return [text.textContent, box.left, box.top, box.right, box.bottom];
})"""
BODIES = """() => [...document.querySelectorAll(".graph .node")].filter(node => {
    const text = node.querySelector(".name").getBoundingClientRect(), body = node.querySelector(".body").getBBox();
    return text.width > body.width - 8;
}).map(node => node.id)"""


@pytest.fixture
def page(tmp_path: Path) -> Iterator["Page"]:
    """The agent's drawing, open in Chromium; without it the test is skipped, or fails when it is required."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        program = None
    if program is None:
        required = os.environ.get("CONDENSERY_REQUIRE_BROWSER") == "1"
        (pytest.fail if required else pytest.skip)("no browser: install chromium, then pip install playwright")
    file = tmp_path / "rag.html"
    file.write_text(draw(RAGAgent, format="html"), encoding="utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        opened = browser.new_page(viewport={"width": 1200, "height": 1500})
        fetched: list[str] = []
        opened.on("request", lambda request: fetched.append(request.url))
        opened.goto(file.as_uri())
        yield opened
        assert fetched == [file.as_uri()]
        browser.close()


def test_no_words_of_the_drawing_run_into_each_other(page: "Page") -> None:
    places = page.evaluate(PLACES)
    assert len(places) > 40
    touching = [
        (one[0], other[0])
        for one, other in combinations(places, 2)
        if one[1] < other[3] and other[1] < one[3] and one[2] < other[4] and other[2] < one[4]
    ]
    assert touching == []


def test_every_name_fits_its_box(page: "Page") -> None:
    assert page.evaluate(BODIES) == []


def test_pointing_at_a_step_tells_of_it_and_leaves_only_its_lines_strong(page: "Page") -> None:
    card, hint = page.locator("#card-condense"), page.locator(".hint")
    assert hint.is_visible()
    assert not card.is_visible()
    page.hover("#node-condense")
    assert card.is_visible()
    assert not hint.is_visible()
    page.wait_for_function("getComputedStyle(document.querySelector('.line.at-rerank')).opacity < 0.5")
    assert page.evaluate("getComputedStyle(document.querySelector('.line.at-condense')).opacity") == "1"


def test_the_tab_key_leads_from_one_to_the_next(page: "Page") -> None:
    page.keyboard.press("Tab")
    first = page.evaluate("document.activeElement.id")
    assert page.locator("#" + first.replace("node-", "card-")).is_visible()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") != first
