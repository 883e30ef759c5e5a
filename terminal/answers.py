"""A turn in the terminal, as it happens: what was searched for, the answer, where it comes from."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

from condensery.app import App
from condensery.prompts.loader import Prompts
from condensery.settings import Settings
from condensery.terminal.output import out
from condensery.terminal.sources import show_sources
from condensery.terminal.spinner import Spinner
from condensery.workflows.events import AnswerDelta, CondensedQuestion, FactsUsed, TurnEvent, TurnFinished
from condensery.workflows.turn import Turn


def asker(settings: Settings) -> dict[str, str | None]:
    """Who asks in this terminal, as options of `App.stream`."""
    return {"user_id": settings.memory.user, "organization_id": settings.memory.organization}


async def show_turn(
    app: App, message: str, *, watch: Callable[[TurnEvent], None] = lambda event: None, **options: Any
) -> Turn:
    """Ask and print as the events come, and hand each to `watch`; takes the options of `App.stream`.

    Cancelled: the answer so far stays.
    """
    view = TurnView(app.services.prompts)
    try:
        async with aclosing(app.stream(message, **options)) as events:
            async for event in events:
                view.see(event)
                watch(event)
                if isinstance(event, TurnFinished):
                    return event.turn
    except asyncio.CancelledError:
        view.stopped()
        raise
    finally:
        view.close()
    raise AssertionError("a turn's stream always ends in TurnFinished")


class TurnView:
    """Prints the events of one turn."""

    def __init__(self, prompts: Prompts) -> None:
        self._prompts = prompts
        self._spinner = Spinner("Searching…")

    def see(self, event: TurnEvent) -> None:
        """Print one event."""
        match event:
            case CondensedQuestion() if event.condensed or event.fallback or event.lent:
                self.close()
                for line in self._about_the_search(event):
                    out.say(line, style="dim italic")
                self._spinner = Spinner("Answering…")
            case FactsUsed(facts=facts):
                self.close()
                known = " · ".join(fact.text for fact in facts)
                out.say(f"{self._prompts.text('memory.recalled')}: {known}", style="dim italic")
                self._spinner = Spinner("Answering…")
            case AnswerDelta(text=text):
                self._spinner.stop()
                out.write(text)
            case TurnFinished(turn=turn):
                self.close()
                show_sources(turn, self._prompts)

    def _about_the_search(self, made: CondensedQuestion) -> list[str]:
        """What is searched for when it is more than the message, and why it was not rewritten."""
        lent = self._prompts.text("ui.lent") if made.lent else None
        question = made.question if made.condensed else lent
        searched = [f"{self._prompts.text('ui.searched_for')}: {question}"] if question else []
        return searched + ([self._prompts.not_rewritten(made.fallback)] if made.fallback else [])

    def stopped(self) -> None:
        """Say that the answer ends here."""
        self._spinner.stop()
        out.write(f"{' ' if out.in_line else ''}{self._prompts.text('ui.stopped')}\n")

    def close(self) -> None:
        """Leave the cursor at the start of a line."""
        self._spinner.stop()
        out.end_line()
