"""How one dialogue is judged, and how rows become figures."""

from pathlib import Path
from typing import Any

from condensery.evals import memory_scoring as scoring
from condensery.evals.data import Place
from condensery.evals.memory_data import Asked, Dialogue, Said
from condensery.evals.memory_results import DialogueRow, summarize
from condensery.evals.memory_scoring import Kept, Played, judged

SAID = ("I live in Oslo. What is due?", "And when?", "I live in Bergen now, and I have two cats. My boss has a dog.")


def dialogue(**values: Any) -> Dialogue:
    given: dict[str, Any] = {
        "user": "ana",
        "language": "en",
        "sessions": (tuple(Said(message=message) for message in SAID),),
        "facts": ("I live in Bergen.", "I have two cats."),
        "superseded": ("I live in Oslo.",),
        "tolerated": ("My boss has a dog.",),
        "questions": (Asked(ask="Where do I live?", fact="I live in Bergen."),),
        "place": Place(Path("ana.json"), 1),
    }
    return Dialogue(**given | values)


def played(*current: Kept, ever: tuple[Kept, ...] = (), recalled: tuple[str, ...] = (), **values: Any) -> Played:
    questions: dict[int, str | None] = dict(enumerate(SAID))
    return Played(
        questions=questions, current=list(current), ever=[*ever, *current], recalled=[list(recalled)], **values
    )


BERGEN, CATS, OSLO = Kept("I live in Bergen now", 2), Kept("I have 2 cats", 2), Kept("I live in Oslo", 0)


def test_everything_right_is_right() -> None:
    row = judged(dialogue(), played(BERGEN, CATS, ever=(OSLO,), recalled=("I live in Bergen now",), probed=[["x"]]))
    assert (row.right, row.kept, row.expected) == (2, 2, 2)
    assert (row.superseded, row.resolved) == (1, 1)
    assert (row.asked, row.recalled, row.askable) == (1, 1, 1)
    assert (row.free_turns, row.junk) == (1, 0)
    assert not row.causes
    assert not row.unrecalled
    assert not row.unresolved


def test_what_may_be_kept_counts_neither_way() -> None:
    row = judged(dialogue(), played(BERGEN, CATS, Kept("My boss has a dog", 2)))
    assert (row.right, row.kept) == (2, 2)


def test_a_second_copy_and_what_is_no_longer_true_are_too_much() -> None:
    row = judged(dialogue(), played(OSLO, BERGEN, Kept("I'm living in Bergen", 2)))
    assert (row.right, row.kept) == (1, 3)
    assert [each.cause for each in row.extra] == [scoring.STALE, scoring.DUPLICATE]
    assert row.extra[0].message == SAID[0]
    assert row.unresolved == ("I live in Oslo.",)


def test_what_is_superseded_is_not_resolved_while_it_is_recalled() -> None:
    recalled = judged(dialogue(), played(BERGEN, ever=(OSLO,), recalled=("I live in Oslo",)))
    probed = judged(dialogue(), played(BERGEN, ever=(OSLO,), probed=[["I live in Oslo"]]))
    assert (recalled.superseded, recalled.resolved) == (probed.superseded, probed.resolved) == (1, 0)


def test_what_was_never_kept_is_not_counted_as_resolved() -> None:
    row = judged(dialogue(), played(BERGEN))
    assert (row.superseded, row.resolved) == (0, 0)


def test_junk_is_whatever_a_turn_without_facts_ever_gave() -> None:
    now, gone, right = Kept("I like rain", 1), Kept("I like fog", 1), Kept("I live in Bergen", 1)
    row = judged(dialogue(), played(now, right, ever=(gone,)))
    assert row.junk == 2
    assert [each.cause for each in row.extra] == [scoring.JUNK]


def test_a_missing_fact_says_why_it_is_missing() -> None:
    lost = played()
    lost.questions = {0: "What is due?", 1: None, 2: "I live in Bergen now"}
    row = judged(dialogue(), lost)
    assert [each.cause for each in row.missing] == [scoring.OVERLOOKED, scoring.LOST]
    lost.questions = {}
    assert {each.cause for each in judged(dialogue(), lost).missing} == {scoring.NOT_FOUND}
    row = judged(dialogue(), played(Kept("I have two old grey cats at home", 2), ever=(BERGEN,)))
    assert [each.cause for each in row.missing] == [scoring.NOT_NOW, scoring.OTHERWISE]
    assert row.missing[1].nearest == "I have two old grey cats at home"
    assert row.missing[1].question == SAID[2]


def test_facts_that_nobody_stated_are_told_from_those_said_otherwise() -> None:
    row = judged(dialogue(), played(Kept("I own a yellow boat", 2), Kept("I have three cats", 2)))
    assert [each.cause for each in row.extra] == [scoring.WRONG, scoring.WRONG]
    row = judged(dialogue(), played(Kept("I live in Bergen by the sea, in a house", 2)))
    assert [each.cause for each in row.extra] == [scoring.OTHERWISE]


def test_a_question_whose_fact_is_not_kept_says_so() -> None:
    row = judged(dialogue(), played(CATS))
    assert (row.asked, row.recalled, row.askable) == (1, 0, 0)
    assert [each.kept for each in row.unrecalled] == [False]
    row = judged(dialogue(), played(BERGEN, recalled=("a", "b", "c", "d", "e", "I live in Bergen")))
    assert [each.kept for each in row.unrecalled] == [True]


def row(language: str, held_out: bool, **values: int) -> DialogueRow:
    counts = dict.fromkeys(
        ("turns", "free_turns", "expected", "right", "kept", "junk", "asked", "recalled", "askable", "superseded",
         "resolved"), 0,
    ) | values  # fmt: skip
    return DialogueRow(user="u", file="f", language=language, held_out=held_out, **counts)


def test_figures_are_over_facts_by_language_and_half() -> None:
    rows = [
        row("de", True, turns=4, free_turns=2, expected=1, right=1, kept=1),
        row("en", False, turns=6, free_turns=6, expected=3, right=1, kept=3, junk=2, asked=2, recalled=1, askable=1),
    ]
    system = summarize("condensery", "rules", rows, complete=True)
    assert list(system.groups) == ["all", "de", "en", "held out", "not held out"]
    everything = system.groups["all"]
    assert (everything.precision, everything.recall, everything.recall_at_5) == (0.5, 0.5, 0.5)
    assert (everything.recall_at_5_of_kept, everything.junk_per_100) == (1, 25)
    assert everything.resolved is None
    assert system.groups["de"].recall == 1


def test_a_folder_without_held_out_files_has_no_halves() -> None:
    assert list(summarize("x", "y", [row("en", False)], complete=True).groups) == ["all", "en"]
