"""Plays dialogues to ways of remembering; what was played to its end before a Ctrl-C is kept."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from condensery.errors import ConfigError
from condensery.evals.memory_data import Dialogue
from condensery.evals.memory_results import DialogueRow, MemorySystem, summarize
from condensery.evals.memory_scoring import Played, judged
from condensery.evals.memory_systems import Clock, Moment, System
from condensery.evals.running import named
from condensery.workflows.turn import Exchange

log = logging.getLogger(__name__)


@dataclass
class MemoryEvaluation:
    """A run over dialogues. `on_turn` is told the system whenever one more turn is done."""

    dialogues: Sequence[Dialogue]
    on_turn: Callable[[str], None]
    rows: dict[str, list[DialogueRow]] = field(default_factory=dict)
    extractions: dict[str, str] = field(default_factory=dict)

    async def run(self, systems: Sequence[System]) -> None:
        """Play every dialogue to every system, one after the other; cancelled, what was played to its end stays."""
        for dialogue in self.dialogues:
            for system in systems:
                self.extractions[system.name] = system.extraction
                played = await self._played(system, dialogue)
                self.rows.setdefault(system.name, []).append(judged(dialogue, played))

    def systems(self) -> list[MemorySystem]:
        """What was measured so far."""
        return [
            summarize(name, self.extractions[name], rows, complete=len(rows) == len(self.dialogues))
            for name, rows in self.rows.items()
        ]

    async def _played(self, system: System, dialogue: Dialogue) -> Played:
        played = Played()
        for moment in moments(dialogue):
            await _take_in(system, moment, dialogue, played)
            self.on_turn(system.name)
        clock = Clock()
        for asked in dialogue.questions:
            played.recalled.append(await system.recall(dialogue.user, asked.ask, dialogue.language))
            played.ms.append(clock.only("recall"))
        played.probed = [await system.recall(dialogue.user, fact, dialogue.language) for fact in dialogue.superseded]
        played.current, played.ever = await system.kept(dialogue.user)
        return played


def moments(dialogue: Dialogue) -> list[Moment]:
    """The turns of a dialogue in their order, each with the scripted turns before it in its session as its history."""
    found: list[Moment] = []
    for number, session in enumerate(dialogue.sessions):
        history: tuple[Exchange, ...] = ()
        for said in session:
            found.append(Moment(dialogue.user, number, len(found), said.sent, history, said.assistant))
            history = (*history, Exchange(message=said.sent, answer=said.assistant))
    return found


async def _take_in(system: System, moment: Moment, dialogue: Dialogue, played: Played) -> None:
    """Play one turn; one that fails keeps nothing, as in a chat once it is parked. Raises `ConfigError`."""
    try:
        played.ms.append(await system.take_in(moment, played))
    except ConfigError:
        raise
    except Exception as error:
        reason = named(error)
        log.warning("%s, turn %s failed at %s: %s", dialogue.place, moment.number + 1, system.name, reason)
        played.failures.append(f"turn {moment.number + 1}: {reason}")
