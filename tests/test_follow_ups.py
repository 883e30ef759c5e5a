"""The follow-up questions over the example documents, answered without a model."""

import pytest

from condensery.app import open_app
from condensery.evals.follow_ups import CONTROLS, Result, results
from condensery.settings import Settings


@pytest.fixture
async def answered(corpus_settings: Settings) -> list[Result]:
    """Each conversation with the turn that its last message became."""
    async with open_app(corpus_settings) as app:
        return [result async for result in results(app)]


async def test_follow_ups_get_the_right_evidence_first_and_the_right_sentence_quoted(answered: list[Result]) -> None:
    follow_ups = [result for result in answered if result.kind not in CONTROLS]
    wrong = [result.name for result in follow_ups if not result.right]
    assert len(follow_ups) >= 39
    assert len(wrong) <= 7, wrong


async def test_a_message_that_stands_alone_is_not_disturbed_by_its_history(answered: list[Result]) -> None:
    controls = [result for result in answered if result.kind in CONTROLS]
    assert [result.turn.question for result in controls] == [None] * len(controls)
    assert sum(result.evidence_first for result in controls) >= len(controls) - 1
