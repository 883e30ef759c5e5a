"""What of earlier exchanges an engine may put into a search."""

from collections.abc import Sequence
from itertools import accumulate
from operator import or_

from condensery.workflows.own_words import is_plain, question_in
from condensery.workflows.phrases import all_phrases, gated
from condensery.workflows.turn import Exchange

WITHHELD = "…"


def searchable(history: Sequence[Exchange], max_chars: int) -> list[Exchange]:
    """`history` as a search may see it, oldest first: questions without pasted blocks, answers made from documents.

    A refusal says nothing about the subject, and what a model writes once it has seen a paste, in this turn or a later
    one, may repeat the paste: both are withheld. Small talk and exchanges without a question are left out.
    """
    pastes = (exchange.shortened or not is_plain(exchange.message, max_chars) for exchange in history)
    return [
        Exchange(
            message=question,
            answer=exchange.answer if exchange.evidenced and (exchange.quoted or not pasted) else WITHHELD,
            evidenced=exchange.evidenced,
            shortened=exchange.shortened,
        )
        for exchange, pasted in zip(history, accumulate(pastes, or_), strict=True)
        if (question := question_in(exchange.message, max_chars)) and not gated(question, all_phrases(), "en")
    ]
