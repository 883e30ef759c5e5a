"""Sort messages by labelled examples, without a language model: python examples/classify.py"""

import asyncio
import tempfile
from pathlib import Path

import condensery
from condensery.agents.few_shot import FewShotAgent
from condensery.workflows.examples import read_examples
from condensery.workflows.turn import Exchange

EXAMPLES = Path(__file__).parent / "classify.toml"
DATA = Path(tempfile.gettempdir()) / "condensery-examples"

MESSAGES = [
    "Do pensioners get cheaper tickets?",
    "My scarf is gone, I had it when I got on.",
    "Is there an elevator at the summit?",
    "Your employee shouted at my children.",
]


async def main() -> None:
    async with condensery.open_services(condensery.load_settings(data_dir=DATA)) as services:
        agent = FewShotAgent(services, read_examples(EXAMPLES))
        for message in MESSAGES:
            found = await agent.classify_text(message)
            print(f"\n> {message}\n{found.label} ({found.confidence:.0%}{'' if found.clear else ', not clear'})")
            for neighbour in found.neighbours[:2]:  # the examples that decided
                print(f"  {neighbour.similarity:.2f} {neighbour.text}")

        # A follow-up is understood by what was said before; only the standalone question is compared with the examples.
        before = Exchange(message="When does the last car come down?", answer="At 21:30.")
        found = await agent.classify_text("And on Fridays?", [before])
        print(f"\n> And on Fridays?\n{found.label}")


asyncio.run(main())
