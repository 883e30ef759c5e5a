"""What of earlier exchanges an engine may put into a search."""

from collections.abc import Sequence

from condensery.workflows.own_words import is_plain, question_in
from condensery.workflows.phrases import all_phrases, gated
from condensery.workflows.turn import Exchange

WITHHELD = "…"


def searchable(history: Sequence[Exchange], max_chars: int) -> list[Exchange]:
    """`history` as a search may see it, oldest first: questions without pasted blocks, answers made from documents.

    An answer to a message with a paste may repeat the paste, and a refusal says nothing about the subject: both are
    withheld. Small talk and exchanges without a question are left out.
    """
    return [
        Exchange(
            message=question,
            answer=exchange.answer if exchange.evidenced and is_plain(exchange.message, max_chars) else WITHHELD,
            evidenced=exchange.evidenced,
        )
        for exchange in history
        if (question := question_in(exchange.message, max_chars)) and not gated(question, all_phrases(), "en")
    ]
