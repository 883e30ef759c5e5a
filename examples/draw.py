"""Draw an agent, and a workflow of your own, as web pages: python examples/draw.py [FOLDER]"""

import sys
import tempfile
from pathlib import Path

from llama_index.core.workflow import Event, StartEvent, StopEvent, Workflow, step

from condensery import RAGAgent
from condensery.workflows.drawing import draw


class Translated(Event):
    """What `answer` waits for."""

    text: str


class Interpreter(Workflow):
    """Any LlamaIndex workflow can be drawn; nothing is run."""

    @step
    async def translate(self, start: StartEvent) -> Translated:
        return Translated(text=start.text)

    @step
    async def answer(self, translated: Translated) -> StopEvent:
        return StopEvent(result=translated.text)


def main(folder: Path) -> None:
    for workflow in (RAGAgent, Interpreter):
        page = folder / f"{workflow.__name__}.html"
        page.write_text(draw(workflow, format="html"), encoding="utf-8")  # "svg" and "mermaid" work the same way
        print(page)


main(Path(sys.argv[1] if sys.argv[1:] else tempfile.gettempdir()))
