"""`condensery eval memory`: play dialogues, count what is kept and recalled, with a bar, a table and JSON."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from condensery.errors import ConfigError
from condensery.evals.about import about
from condensery.evals.corpus import opened_in
from condensery.evals.memory_data import Dialogue, read_dialogues
from condensery.evals.memory_ours import Ours
from condensery.evals.memory_peer import opened_peer, unfit
from condensery.evals.memory_results import MEM0, MemoryResult
from condensery.evals.memory_running import MemoryEvaluation
from condensery.evals.memory_systems import System
from condensery.evals.results import Skipped
from condensery.services import Services
from condensery.terminal.evaluating import ROOT, Bar, check_json, counted_only, write
from condensery.terminal.memory_tables import show_memory
from condensery.terminal.options import Options
from condensery.terminal.output import out
from condensery.terminal.running import Code

DIALOGUES = ROOT / "evals" / "fixtures" / "memory"


@dataclass(frozen=True)
class MemoryChoice:
    """What the command was told."""

    folder: Path | None
    json_file: str | None = None
    peer: bool = False
    misses: bool = False


async def evaluate_memory(choice: MemoryChoice, options: Options) -> Code:
    """Measure and report. Cancelled: reports the dialogues that were played to their end."""
    dialogues, settings = dialogues_of(choice), options.settings()
    check_json(choice.json_file)
    if not settings.memory.enabled:
        raise ConfigError("memory is switched off, so there is nothing to measure; set memory.enabled = true")
    async with AsyncExitStack() as stack:
        if not options.verbose:
            stack.enter_context(counted_only())
        bar = stack.enter_context(Bar())
        app = await stack.enter_async_context(opened_in(None, settings, deep=False))
        systems, skipped = await systems_of(choice, app.services, stack)
        await app.warm()
        bar.turns(sum(len(dialogue.turns) for dialogue in dialogues) * len(systems))
        evaluation = MemoryEvaluation(dialogues, bar.turn)
        complete = False
        try:
            await evaluation.run(systems)
            complete = True
        finally:
            bar.stop()
            result = MemoryResult(
                data=(choice.folder or DIALOGUES).resolve().name,
                complete=complete,
                about=about(app.services),
                systems=tuple(evaluation.systems()),
                skipped=tuple(skipped),
            )
            report(choice, result)
    return Code.OK


def dialogues_of(choice: MemoryChoice) -> Sequence[Dialogue]:
    """The dialogues to play; raises `ConfigError`."""
    if choice.folder is None and not DIALOGUES.is_dir():
        raise ConfigError(
            "the dialogues to measure with are part of the repository, not of an installed package; give a folder of "
            "your own (see --help)"
        )
    return read_dialogues(choice.folder or DIALOGUES)


async def systems_of(
    choice: MemoryChoice, services: Services, stack: AsyncExitStack
) -> tuple[list[System], list[Skipped]]:
    """What is measured, and what cannot be."""
    systems: list[System] = [Ours.of(services)]
    if not choice.peer:
        return systems, []
    memory = services.settings.memory
    if reason := unfit(services.model_for(memory.model, memory.api_key)):
        return systems, [Skipped(name=MEM0, reason=reason)]
    return [*systems, await stack.enter_async_context(opened_peer(services))], []


def report(choice: MemoryChoice, result: MemoryResult) -> None:
    """Write and show the result."""
    if choice.json_file == "-":
        out.write(result.as_json())
        return
    show_memory(result, misses=choice.misses)
    if choice.json_file is not None:
        write(Path(choice.json_file), result.as_json())
