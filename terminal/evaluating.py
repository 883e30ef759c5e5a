"""`condensery eval`: measure, with a bar, tables, JSON and a plot."""

import logging
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from condensery.app import App
from condensery.errors import ConfigError
from condensery.evals import plot as plotting
from condensery.evals.about import about
from condensery.evals.choices import MATRIX, engines_for, methods_for
from condensery.evals.corpus import index, opened_in
from condensery.evals.data import Data
from condensery.evals.folders import read_chat, read_folder
from condensery.evals.judging import Judge, judge_for
from condensery.evals.latency import LatencyRun, ours, some_conversations, theirs
from condensery.evals.peer import Peer
from condensery.evals.results import PEER, Configuration, Result, Skipped, read_result
from condensery.evals.running import Evaluation
from condensery.settings import Settings
from condensery.terminal.eval_tables import show
from condensery.terminal.options import Options
from condensery.terminal.output import err, out
from condensery.terminal.running import Code

ROOT = Path(__file__).parents[1]
FIXTURES = ROOT / "evals" / "fixtures" / "railway"
CORPUS = ROOT / "examples" / "docs"


@dataclass(frozen=True)
class Choice:
    """What a command was told."""

    command: str
    folder: Path | None
    engines: Sequence[str] = ()
    methods: Sequence[str] = ()
    json_file: str | None = None
    plot: Path | None = None
    keep: Path | None = None
    peer: bool = False
    conversations: int = 0
    whole: bool = False
    missing: bool = False


@contextmanager
def counted_only() -> Iterator[None]:
    """Keep what degrades out of the log: the tables count it."""
    log = logging.getLogger("condensery.tracing")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(level)


async def evaluate(choice: Choice, options: Options) -> Code:
    """Measure and report. Cancelled: reports what was measured so far."""
    data, settings = data_of(choice), options.settings()
    check_outputs(choice, settings)
    async with AsyncExitStack() as stack:
        if not options.verbose:
            stack.enter_context(counted_only())
        bar = stack.enter_context(Bar())
        opening = opened_in(choice.keep, settings, whole=choice.whole, deep=choice.command != "latency")
        app = await stack.enter_async_context(opening)
        chosen = await chosen_for(choice, app)
        await index(app, data, bar.indexed)
        judge = await judge_for(data, app, missing_too=choice.missing)
        measuring = (timing if choice.command == "latency" else comparing)(choice, chosen, app, data, judge, bar)
        complete = False
        try:
            await measuring.work
            complete = True
        finally:
            bar.stop()
            report(choice, result_of(choice, app, data, judge, chosen, measuring, complete=complete))
    return Code.OK


@dataclass(frozen=True)
class Chosen:
    """What is measured, and what cannot be."""

    engines: list[str]
    methods: list[str]
    skipped: list[Skipped]
    peer: Peer | None


@dataclass(frozen=True)
class Measuring:
    """Work to be done, and what it has found at any time."""

    work: Coroutine[Any, Any, None]
    configurations: Callable[[], list[Configuration]]
    latency: Callable[[], dict[str, Any] | None] = lambda: None


def comparing(choice: Choice, chosen: Chosen, app: App, data: Data, judge: Judge, bar: "Bar") -> Measuring:
    """What engines and methods find."""
    bar.turns(len(data.cases) * len(chosen.methods) * (len(chosen.engines) + choice.peer))
    evaluation = Evaluation(app, data, judge, bar.turn)
    return Measuring(evaluation.run(chosen.engines, chosen.methods, chosen.peer), evaluation.configurations)


def timing(choice: Choice, chosen: Chosen, app: App, data: Data, judge: Judge, bar: "Bar") -> Measuring:
    """How long engines take with the first method."""
    method = chosen.methods[0]
    systems = {engine: ours(app.services, engine, method) for engine in chosen.engines}
    if chosen.peer:
        systems[PEER] = theirs(chosen.peer, method)
    conversations = some_conversations(data, choice.conversations)
    bar.turns(sum(map(len, conversations)) * len(systems))
    timed = LatencyRun(data, judge, systems, method, bar.turn)
    return Measuring(timed.run(conversations), timed.configurations, timed.summary)


def data_of(choice: Choice) -> Data:
    """The data a command is to measure with; raises `ConfigError`."""
    if choice.folder is None:
        if not CORPUS.is_dir() or not FIXTURES.is_dir():
            raise ConfigError(
                "the conversations and documents to measure with are part of the repository, not of an installed "
                "package; give a folder of your own (see --help)"
            )
        return read_chat(FIXTURES, CORPUS)
    data = read_folder(choice.folder)
    if choice.command in ("turns", "chat") and data.form != choice.command:
        raise ConfigError(f"{choice.folder} is data for `condensery eval {data.form}`")
    return data


async def chosen_for(choice: Choice, app: App) -> Chosen:
    """The engines, methods and peer to measure, and what cannot be; raises `ConfigError` when no method can."""
    named_engines, named_methods = list(choice.engines), list(choice.methods)
    if choice.command == "retrieval":
        named_engines = named_engines or [app.settings.condense.engine]
        named_methods = named_methods or list(MATRIX)
    methods, no_methods = methods_for(app.services, named_methods)
    engines, no_engines = await engines_for(app.services, named_engines)
    if not methods:
        raise ConfigError("; ".join(f"{each.name} cannot run: {each.reason}" for each in no_methods))
    peer = Peer(app.services, methods) if choice.peer else None
    return Chosen(engines, methods, [*no_engines, *no_methods], peer)


def check_outputs(choice: Choice, settings: Settings) -> None:
    """Raise `ConfigError`, before anything is measured, for a place that cannot be written to."""
    check_json(choice.json_file)
    if choice.plot:
        check_file(choice.plot)
        plotting.check(choice.plot)
    if choice.keep is not None and choice.keep.resolve() == settings.data_dir.resolve():
        raise ConfigError(f"--keep {choice.keep} is where your own documents are (data_dir); choose another folder")


def check_json(file: str | None) -> None:
    """Raise `ConfigError` for a `--json` that cannot be written to."""
    if file not in (None, "-"):
        check_file(Path(str(file)))


def check_file(file: Path) -> None:
    """Raise `ConfigError` for a file that cannot be made."""
    if file.is_dir() or not file.resolve().parent.is_dir():
        raise ConfigError(f"cannot write {file}: {'it is a folder' if file.is_dir() else 'no such folder'}")


def result_of(
    choice: Choice, app: App, data: Data, judge: Judge, chosen: Chosen, measuring: Measuring, *, complete: bool
) -> Result:
    """What was measured so far."""
    return Result(
        command=choice.command,
        data=data.name,
        score=judge.score,
        complete=complete,
        about=about(app.services),
        configurations=tuple(measuring.configurations()),
        skipped=tuple(chosen.skipped),
        warnings=judge.warnings,
        latency=measuring.latency(),
    )


def report(choice: Choice, result: Result) -> None:
    """Write and show the result."""
    if choice.json_file == "-":
        out.write(result.as_json())
    else:
        show(result)
    if choice.json_file not in (None, "-"):
        write(Path(choice.json_file), result.as_json())
    if choice.plot is not None and result.configurations:
        plotting.plot([result], choice.plot)
        err.say(f"wrote {choice.plot}")


def write(file: Path, text: str) -> None:
    """Write a file of ours; raises `ConfigError`."""
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot write {file}: {error.strerror}; choose another --json") from error
    err.say(f"wrote {file}")


def draw(files: Sequence[Path], output: Path) -> Code:
    """Draw results that were written before."""
    plotting.check(output)
    plotting.plot([read_result(file) for file in files], output)
    err.say(f"wrote {output}")
    return Code.OK


class Bar(Progress):
    """The progress of indexing, then of measuring, on stderr; drawn only in a terminal."""

    def __init__(self) -> None:
        name = TextColumn("{task.description}", markup=False)
        columns = (name, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
        super().__init__(*columns, console=err, transient=True, disable=not err.is_terminal)
        self._indexing = self.add_task("Opening…", total=None)
        self._measuring = self.add_task("turns", total=None, visible=False)

    def indexed(self, done: int, total: int) -> None:
        """Take in how far indexing is."""
        self.update(self._indexing, description="Indexing…", completed=done, total=total)

    def turns(self, total: int) -> None:
        """Go over to measuring so many turns."""
        self.update(self._indexing, visible=False)
        self.update(self._measuring, total=total, visible=True)

    def turn(self, configuration: str) -> None:
        """Take in that one more turn is done."""
        self.update(self._measuring, description=configuration, advance=1)
