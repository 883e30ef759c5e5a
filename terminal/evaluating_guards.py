"""`condensery eval guards`: ask labelled questions, with a bar, a table and JSON."""

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from condensery.app import App
from condensery.errors import ConfigError
from condensery.evals.about import about
from condensery.evals.corpus import opened_in
from condensery.evals.guards import GuardResult, read_questions, result_of
from condensery.evals.guards_running import GuardEvaluation
from condensery.terminal.evaluating import CORPUS, ROOT, Bar, check_json, counted_only, write
from condensery.terminal.guard_tables import show_guards
from condensery.terminal.options import Options
from condensery.terminal.output import out
from condensery.terminal.running import Code

QUESTIONS = ROOT / "evals" / "fixtures" / "guards" / "questions.jsonl"


@dataclass(frozen=True)
class GuardChoice:
    """What the command was told."""

    file: Path | None
    documents: tuple[Path, ...] = ()
    json_file: str | None = None
    keep: Path | None = None
    misses: bool = False


async def evaluate_guards(choice: GuardChoice, options: Options) -> Code:
    """Measure and report. Cancelled: reports the questions that were asked."""
    file, settings = file_of(choice), options.settings()
    questions = read_questions(file)
    check_json(choice.json_file)
    with ExitStack() as stack:
        if not options.verbose:
            stack.enter_context(counted_only())
        bar = stack.enter_context(Bar())
        async with opened_in(choice.keep, settings, deep=False) as app:
            await ingested(app, documents_of(choice), bar)
            bar.turns(len(questions))
            evaluation = GuardEvaluation(app, questions, lambda: bar.turn("questions"))
            try:
                await evaluation.run()
            finally:
                bar.stop()
                report(choice, result_of(file.stem, about(app.services), questions, evaluation.rows))
    return Code.OK


def file_of(choice: GuardChoice) -> Path:
    """The questions to ask; raises `ConfigError`."""
    if choice.file is None and not QUESTIONS.is_file():
        raise ConfigError(
            "the questions to measure with are part of the repository, not of an installed package; give a file of "
            "your own (see --help)"
        )
    return choice.file or QUESTIONS


def documents_of(choice: GuardChoice) -> list[Path]:
    """The documents that are asked; raises `ConfigError`."""
    if not choice.documents and not CORPUS.is_dir():
        raise ConfigError("name the documents that the questions are about: --documents PATH")
    return list(choice.documents) or [CORPUS]


async def ingested(app: App, documents: list[Path], bar: Bar) -> None:
    """Bring `documents` into the index; raises `ConfigError` when one cannot be read."""
    done = await app.ingest(documents, on_progress=lambda file: bar.indexed(file.done, file.total))
    if done.failed:
        reasons = "; ".join(f"{failure.path}: {failure.reason}" for failure in done.failed)
        raise ConfigError(f"the documents cannot be ingested: {reasons}")
    await app.warm()


def report(choice: GuardChoice, result: GuardResult) -> None:
    """Write and show the result."""
    text = result.model_dump_json(indent=2)
    if choice.json_file == "-":
        out.write(text)
        return
    show_guards(result, misses=choice.misses)
    if choice.json_file is not None:
        write(Path(choice.json_file), text)
