"""Watch a turn as it happens: python examples/stream.py ["A question"]"""

import asyncio
import sys
import tempfile
from contextlib import aclosing
from pathlib import Path

import condensery
from condensery.workflows.events import AnswerDelta, CondensedQuestion, EvidenceReady, StageFinished, TurnFinished

DOCUMENTS = Path(__file__).parent / "docs"
DATA = Path(tempfile.gettempdir()) / "condensery-examples"


async def main(question: str) -> None:
    async with condensery.open_app(data_dir=DATA) as app:
        await app.ingest([DOCUMENTS])
        # Leaving the `async with` before the end stops the turn; what was written until then is kept.
        async with aclosing(app.stream(question)) as events:
            async for event in events:
                show(event)


def show(event: condensery.TurnEvent) -> None:
    """The events come in this order; stages end in between."""
    match event:
        case CondensedQuestion(question=question):
            print(f"question   {question}")
        case EvidenceReady(chunks=chunks):
            for number, found in enumerate(chunks, start=1):
                print(f"evidence   [{number}] {found.chunk.source}, score {found.score:.4f}")
        case AnswerDelta(text=text):
            print(f"answer     {text!r}")
        case StageFinished(record=record):
            print(f"stage      {record.stage}, {record.ms:.1f} ms{f': {record.note}' if record.note else ''}")
        case TurnFinished(turn=turn):
            print(f"finished   {turn.outcome}, {len(turn.citations)} citations")


asyncio.run(main(" ".join(sys.argv[1:]) or "How much is a ticket for a dog?"))
