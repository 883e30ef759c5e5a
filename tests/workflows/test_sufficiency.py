"""Judging evidence by words and vectors: which questions it answers, which parts are wanting, what it lacks."""

import pytest

from condensery.retrieval.types import Chunk, ScoredChunk
from condensery.workflows.extractive import Similarities, Similarity
from condensery.workflows.sufficiency import UNKNOWN_TERM, Evidence, missing_from, parts_of

SHED = "The old engine shed is a museum now. It opens on the first Sunday of each month."
FARES = "The annual pass costs 410 francs. A dog travels for 6 francs."


def evidence(*texts: str, nearest: float | None = 0.6) -> Evidence:
    chunks = [ScoredChunk(chunk=Chunk(id=str(n), text=text, source="a.md"), score=1.0) for n, text in enumerate(texts)]
    similar: Similarities = {} if nearest is None else {("0", (0, 5)): Similarity(nearest, nearest)}
    return Evidence.of(chunks, lambda term: 4.0 if term == UNKNOWN_TERM else 2.0, similar)


def test_a_question_whose_words_and_meaning_are_there_scores_high_and_a_stranger_low() -> None:
    known = evidence(FARES, nearest=0.7).judged("What does the annual pass cost?")
    strange = evidence(FARES, nearest=0.2).judged("How many moons does Jupiter have?")
    assert known.score > 0.7 > 0.1 > strange.score
    assert (known.covered, strange.covered) == (1.0, 0.0)


def test_the_words_must_be_in_one_chunk() -> None:
    together = evidence(f"{FARES} {SHED}").judged("When does the museum for the dog open?")
    apart = evidence(FARES, SHED).judged("When does the museum for the dog open?")
    assert together.score > apart.score


def test_without_vectors_the_words_decide() -> None:
    words = evidence(FARES, nearest=None)
    assert words.judged("What does the annual pass cost?").score > 0.5 > words.judged("Who is the mayor?").score


def test_what_earlier_turns_lend_counts_less_than_what_is_asked() -> None:
    here = evidence(FARES)
    assert here.judged("a dog", "museum engine").covered > here.judged("museum engine", "a dog").covered


def test_a_question_without_a_word_of_its_own_is_no_reason_to_doubt_its_coverage() -> None:
    assert evidence(FARES).judged("And how much?").covered == 1.0


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("When does the shed open, and who runs it?", ["When does the shed open", "who runs it?"]),
        ("Was kostet ein Hund und wann fährt die Bahn?", ["Was kostet ein Hund", "wann fährt die Bahn?"]),
        ("Combien coûte le pass et quand ouvre le musée ?", ["Combien coûte le pass", "quand ouvre le musée ?"]),
        ("Quanto costa il cane e quando apre il museo?", ["Quanto costa il cane", "quando apre il museo?"]),
        ("I have a dog. What does it cost?", ["I have a dog.", "What does it cost?"]),
        ("When does it open, and how?", ["When does it open, and how?"]),
        ("What does the pass cost?", ["What does the pass cost?"]),
    ],
)
def test_a_question_is_split_where_another_thing_is_asked(question: str, parts: list[str]) -> None:
    assert parts_of(question) == parts


def test_what_is_missing_is_named_as_it_was_asked_words_that_belong_together_as_one() -> None:
    here = evidence(FARES, SHED)
    assert missing_from(here, "Does the museum have a swimming pool or a sauna?") == ("swimming pool", "sauna")
    assert missing_from(here, "What does the annual pass cost?") == ()
    assert missing_from(here, "How much is it for dogs?") == ()
