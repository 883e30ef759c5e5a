"""`condensery ask`: one question, one answer, one exit code."""

import sys
from functools import partial
from typing import Any

import typer

from condensery.app import App
from condensery.errors import RefusalReason
from condensery.terminal.answers import asker, show_turn
from condensery.terminal.explain import explain
from condensery.terminal.opening import empty_index, opened
from condensery.terminal.options import Options
from condensery.terminal.output import err, out
from condensery.terminal.running import Code
from condensery.terminal.spinner import spinning
from condensery.workflows.events import HypothesisMade, TurnEvent
from condensery.workflows.turn import Outcome, Turn

TRY_AGAIN = frozenset({RefusalReason.BUSY, RefusalReason.TIMED_OUT, RefusalReason.FAILED})


def question_from(words: list[str]) -> str:
    """The question on the command line, or all of stdin for `-`."""
    text = sys.stdin.read() if words == ["-"] else " ".join(words)
    if not text.strip():
        raise typer.BadParameter("the question is blank; type one, or pass - and send it on stdin")
    return text.strip()


async def ask(
    question: str,
    options: Options,
    *,
    conversation: str | None,
    agent: str | None,
    engine: str | None,
    method: str | None,
    as_json: bool,
    explained: bool,
) -> Code:
    """Answer `question` on stdout; the code says whether it was answered, refused or failed."""
    chosen: dict[str, Any] = {"conversation_id": conversation, "agent": agent, "engine": engine, "method": method}
    async with opened(options.settings()) as app:
        chosen |= asker(app.settings)
        if as_json:
            with spinning("Answering…"):
                turn = await app.ask(question, **chosen)
            out.write(turn.model_dump_json(indent=2) + "\n")
            return exit_code(turn)
        made: list[str] = []
        turn = await show_turn(app, question, watch=partial(keep_passage, made), **chosen)
        if explained:
            explain(turn, "\n\n".join(made))
        await hint(app, turn, options)
        return exit_code(turn)


def keep_passage(made: list[str], event: TurnEvent) -> None:
    """Keep the hypothetical passages of a turn, one per search, for as long as the command runs."""
    if isinstance(event, HypothesisMade):
        made.append(event.passage)


def exit_code(turn: Turn) -> Code:
    """0: there is an answer; 3: refused, or nothing was found; 1: failed, and trying again may help."""
    if turn.outcome is Outcome.FAILED or turn.reason in TRY_AGAIN:
        return Code.FAILED
    return Code.REFUSED if turn.outcome in (Outcome.REFUSED, Outcome.ASKS_CONSENT) else Code.OK


async def hint(app: App, turn: Turn, options: Options) -> None:
    """Say how to go on: to a person how to follow up, to anyone why an empty index gave nothing."""
    if turn.reason == RefusalReason.NOTHING_FOUND and not await app.services.documents.count():
        err.say(empty_index(options))
    elif err.is_terminal and turn.outcome is Outcome.ANSWERED:
        more = options.command(f"ask --conversation {turn.key.conversation_id} '…'")
        err.say(f"\nTo ask a follow-up question: {more}", style="dim")
