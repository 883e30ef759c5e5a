"""Ask the example documents a question and a follow-up: python examples/ask.py"""

import asyncio
import tempfile
from pathlib import Path

import condensery

DOCUMENTS = Path(__file__).parent / "docs"
# A folder of its own, so that your own documents and the examples do not mix.
DATA = Path(tempfile.gettempdir()) / "condensery-examples"


async def main() -> None:
    async with condensery.open_app(data_dir=DATA) as app:
        report = await app.ingest([DOCUMENTS])  # reads only what changed since the last time
        print(f"{len(report.added)} documents added, {len(report.unchanged)} as before")

        # Turns of one conversation know each other; without an id every question stands alone.
        first = await app.ask("When does the last car come down?")
        second = await app.ask("And on Fridays?", conversation_id=first.key.conversation_id)

    for turn in (first, second):
        print(f"\n> {turn.message}")
        if turn.searched_for:  # the standalone question, when it differs from the message
            print(f"Searched for: {turn.searched_for}")
        print(turn.answer)
        for number, source in {citation.number: citation.source for citation in turn.citations}.items():
            print(f"[{number}] {source}")


asyncio.run(main())
