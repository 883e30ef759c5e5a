"""Where an answer comes from: the list under it, and the passages themselves."""

from rich.text import Text

from condensery.prompts.loader import Prompts
from condensery.terminal.output import out, plain
from condensery.workflows.turn import Citation, Turn


def by_number(turn: Turn) -> dict[int, list[Citation]]:
    """The citations of a turn under their numbers, in order."""
    numbers = sorted({citation.number for citation in turn.citations})
    return {number: [each for each in turn.citations if each.number == number] for number in numbers}


def place(citation: Citation) -> str:
    """Where a citation points to."""
    return citation.source if citation.page is None else f"{citation.source}, page {citation.page}"


def show_sources(turn: Turn, prompts: Prompts) -> None:
    """List each cited source once, as `[1] file, page 3`."""
    cited = by_number(turn)
    if cited:
        out.say()
        out.say(prompts.text("ui.sources"), style="bold")
    for number, citations in cited.items():
        out.say(f"[{number}] {place(citations[0])}")


def show_passages(turn: Turn) -> None:
    """Print the cited passages, with the quoted sentences marked."""
    for number, citations in by_number(turn).items():
        chunk = turn.evidence[number - 1].chunk
        heading = f" – {chunk.heading}" if chunk.heading else ""
        out.say(f"\n[{number}] {place(citations[0])}{heading}", style="bold")
        out.print(marked(chunk.text, citations), soft_wrap=True)


def marked(passage: str, citations: list[Citation]) -> Text:
    """The passage with every quote of it in reverse."""
    text, at = Text(), 0
    spans = sorted((each.start, each.end) for each in citations if each.start is not None and each.end is not None)
    for start, end in spans:
        text.append(plain(passage[at:start])).append(plain(passage[max(at, start) : end]), style="reverse")
        at = max(at, end)
    return text.append(plain(passage[at:]))
