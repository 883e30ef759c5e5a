from hypothesis import given
from hypothesis import strategies as st

from condensery.retrieval.quotable import quotable_spans
from condensery.retrieval.types import Chunk, ScoredChunk
from condensery.workflows.extractive import best_quotes, quoted_answer


def chunk(text: str, heading: str = "") -> ScoredChunk:
    return ScoredChunk(chunk=Chunk(id=text[:8], text=text, source="guide.md", heading=heading, page=3), score=1)


def quotes(question: str, *chunks: ScoredChunk, limit: int = 3) -> list[str]:
    return [quote.text for quote in best_quotes(question, chunks, lambda term: 1.0, {}, limit=limit)]


TRACK = chunk("The track was laid in 1911. It is 2,140 metres long. The cars are red.", heading="The track")


def test_the_sentence_that_answers_is_quoted_first() -> None:
    assert quotes("How long is the track?", TRACK)[0] == "It is 2,140 metres long."
    assert quotes("When was the track laid?", TRACK)[0] == "The track was laid in 1911."


def test_nothing_is_quoted_when_nothing_answers() -> None:
    assert quotes("What is the capital of Mongolia?", TRACK) == []
    assert quotes("???", TRACK) == []
    assert quotes("How long is it?", chunk("")) == []


def test_a_quote_leads_back_to_its_place_in_the_chunk() -> None:
    quote = best_quotes("How long is the track?", [TRACK], lambda term: 1.0, {}, limit=1)[0]
    citation = quote.citation()
    assert TRACK.chunk.text[citation.start : citation.end] == citation.quote == "It is 2,140 metres long."
    assert (citation.number, citation.page) == (1, 3)


def test_a_table_row_is_quoted_whole_and_prose_over_several_lines_as_one_sentence() -> None:
    text = "| Ticket | Price |\n|---|---|\n| Day pass | 30.00 |\n\nThe winter pass\ncosts 290 francs.\n- Dogs: 6 francs"
    assert [text[start:end] for start, end in quotable_spans(text)] == [
        "| Ticket | Price |",
        "| Day pass | 30.00 |",
        "The winter pass\ncosts 290 francs.",
        "- Dogs: 6 francs",
    ]


def test_the_answer_quotes_on_one_line_with_its_number() -> None:
    found = best_quotes(
        "What does the pass cost?", [chunk("The winter pass\ncosts 290 francs.")], lambda _: 1.0, {}, limit=1
    )
    assert quoted_answer(found) == "“The winter pass costs 290 francs.” [1]"


def test_the_same_sentence_in_overlapping_chunks_is_quoted_once() -> None:
    assert len(quotes("How long is the track?", TRACK, TRACK, limit=5)) == len(
        set(quotes("How long is the track?", TRACK))
    )


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_text_can_be_asked_and_quoted(question: str, text: str) -> None:
    for quote in best_quotes(question, [chunk(text)], lambda _: 1.0, {}, limit=3):
        assert quote.text.strip()
        assert quote.text in text


def test_a_follow_up_is_answered_with_what_was_not_told_before_unless_it_asks_for_that_again() -> None:
    chunks = [chunk("Both cars stopped at 15:42 on the line. One passenger of the cars sprained an ankle on the line.")]

    def first_of(question: str, told: str = "") -> str:
        return best_quotes(question, chunks, lambda term: 1.0, {}, told=told, limit=1)[0].text[:8]

    told = "Both cars stopped at 15:42 on the line."
    anyone = "When did both cars stop on the line? Were people in the cars all right?"
    assert (first_of(anyone), first_of(anyone, told)) == ("Both car", "One pass")
    assert first_of("When did both cars stop on the line?", told) == "Both car"
