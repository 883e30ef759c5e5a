"""How an answer came about, as tables: the results with their ranks and scores, and the stages with their times."""

from textwrap import indent

from rich.table import Table
from rich.text import Text

from condensery.retrieval.types import Placement, ScoredChunk
from condensery.terminal.output import out, plain
from condensery.workflows.turn import StageRecord, Turn

FIRST_CHARS = 60


def explain(turn: Turn, passage: str | None = None) -> None:
    """Print the tables for a finished turn, with what led the search; `passage` is the one made up to search with."""
    out.say()
    out.say(f"engine {turn.engine or '–'}, method {turn.method or '–'}, answer {turn.answer_mode or '–'}")
    if turn.fallback:
        out.say(f"searched with the message itself: {turn.fallback}")
    if passage:
        out.say("hypothetical passage, made up to search with and kept nowhere:")
        out.say(indent(passage, "  "), style="dim")
    if turn.evidence:
        out.print(results_table(turn.evidence))
    out.print(stages_table(turn.stages))


def results_table(results: tuple[ScoredChunk, ...]) -> Table:
    """One row per result, best first: rank and score by arm, fused, reranked and final; the source; its first words."""
    arms = list(dict.fromkeys(arm for result in results for arm in result.trace.arms))
    reranked = any(result.trace.reranked for result in results)
    table = Table(title="Results", title_justify="left")
    table.add_column("final", justify="right")
    for name in [*arms, "fused", *(["reranked"] if reranked else [])]:
        table.add_column(name, justify="right")
    table.add_column("source", overflow="fold")
    table.add_column("begins")
    for final, result in sorted(map(final_place, results, range(1, len(results) + 1)), key=lambda row: row[0].rank):
        stages = [result.trace.arms.get(arm) for arm in arms] + [result.trace.fused]
        stages += [result.trace.reranked] if reranked else []
        table.add_row(*map(shown, [final, *stages]), *map(cell, (result.chunk.source, first_words(result.chunk.text))))
    return table


def stages_table(stages: tuple[StageRecord, ...]) -> Table:
    """One row per stage in the order they ended: milliseconds, and why it degraded if it did."""
    table = Table(title="Stages", title_justify="left")
    table.add_column("stage")
    table.add_column("ms", justify="right")
    table.add_column("note", overflow="fold")
    for record in stages:
        table.add_row(cell(record.stage), f"{record.ms:.1f}", cell(record.note or ""))
    return table


def final_place(result: ScoredChunk, number: int) -> tuple[Placement, ScoredChunk]:
    """A result with its final rank; turns of older versions have none, and then its number in the evidence counts."""
    return result.trace.final or Placement(rank=number, score=result.score), result


def shown(placement: Placement | None) -> str:
    """Rank and score, such as `2 · 0.7134`."""
    return "–" if placement is None else f"{placement.rank} · {placement.score:.4f}"


def first_words(text: str) -> str:
    """The beginning of a passage on one line."""
    line = " ".join(text.split())
    return line if len(line) <= FIRST_CHARS else line[:FIRST_CHARS].rsplit(" ", 1)[0] + " …"


def cell(text: str) -> Text:
    """Text of a document as a table cell."""
    return Text(plain(text))
