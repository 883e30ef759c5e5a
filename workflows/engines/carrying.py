"""What of earlier exchanges an engine may put into a search."""

from collections.abc import Sequence
from itertools import accumulate
from operator import or_

from condensery.workflows.own_words import is_plain, question_in
from condensery.workflows.phrases import all_phrases, gated
from condensery.workflows.turn import Exchange

WITHHELD = "…"

OPENING_QUOTE = "“"
"""What every quote of an extractive answer begins with."""


def searchable(history: Sequence[Exchange], max_chars: int) -> list[Exchange]:
    """`history` as a search may see it, oldest first: questions without pasted blocks, answers made from documents.

    A refusal says nothing about the subject, and what a model writes once it has seen a paste, in this turn or a later
    one, may repeat the paste: both are withheld. Small talk and exchanges without a question are left out.
    """
    pastes = (exchange.shortened or not is_plain(exchange.message, max_chars) for exchange in history)
    return [
        Exchange(
            message=question,
            answer=_said(exchange) if exchange.evidenced and (exchange.quoted or not pasted) else WITHHELD,
            evidenced=exchange.evidenced,
            shortened=exchange.shortened,
        )
        for exchange, pasted in zip(history, accumulate(pastes, or_), strict=True)
        if (question := question_in(exchange.message, max_chars)) and not gated(question, all_phrases(), "en")
    ]


def _said(exchange: Exchange) -> str:
    """The answer; of a quoted one the quotes alone, without the reservation that may stand before them."""
    if not exchange.quoted:
        return exchange.answer
    quotes = [paragraph for paragraph in exchange.answer.split("\n\n") if paragraph.startswith(OPENING_QUOTE)]
    return "\n\n".join(quotes) or exchange.answer
