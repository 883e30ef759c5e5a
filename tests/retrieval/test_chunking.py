"""Chunks: exact offsets, whole sentences, one heading each."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condensery.retrieval.chunking import chunk_document, enriched
from condensery.retrieval.parsed import ParsedDocument, Piece, from_pieces
from condensery.retrieval.readers import read_document
from condensery.retrieval.sentences import sentence_spans
from condensery.retrieval.types import Chunk
from condensery.settings import Ingest

SMALL = Ingest(chunk_chars=100, overlap_chars=0)
OVERLAPPING = Ingest(chunk_chars=100, overlap_chars=50)


def chunked(document: ParsedDocument, settings: Ingest = SMALL) -> list[Chunk]:
    return chunk_document(document, "a.md", "default", settings)


def markdown(text: str) -> ParsedDocument:
    return read_document("a.md", text.encode())


pieces = st.builds(
    Piece,
    st.text(st.sampled_from(list("aB1 .!?。\n|-#字é👍\x00\r\t")), max_size=300),
    level=st.sampled_from([0, 0, 0, 1, 2, 3]),
    by_lines=st.sampled_from([None, True, False]),
)


@given(st.lists(pieces, max_size=8), st.sampled_from([SMALL, OVERLAPPING]))
def test_every_chunk_is_the_text_at_its_offsets_and_fits(parts: list[Piece], settings: Ingest) -> None:
    document = from_pieces(parts)
    for chunk in chunked(document, settings):
        assert document.text[chunk.start : chunk.end] == chunk.text
        assert 0 < len(chunk.text) <= settings.chunk_chars
        assert chunk.text == chunk.text.strip()


@given(st.lists(pieces, max_size=8), st.sampled_from([SMALL, OVERLAPPING]))
def test_no_text_outside_of_headings_is_lost(parts: list[Piece], settings: Ingest) -> None:
    document = from_pieces(parts)
    covered = {offset for chunk in chunked(document, settings) for offset in range(chunk.start, chunk.end)}
    for block in document.blocks:
        lost = {offset for offset in range(block.start, block.end) if not document.text[offset].isspace()} - covered
        assert not lost


@given(st.lists(pieces, max_size=8))
def test_chunk_ids_are_unique_and_the_same_every_time(parts: list[Piece]) -> None:
    document = from_pieces(parts)
    ids = [chunk.id for chunk in chunked(document, OVERLAPPING)]
    assert len(ids) == len(set(ids))
    assert ids == [chunk.id for chunk in chunked(document, OVERLAPPING)]


def test_the_same_passage_of_another_source_or_namespace_has_another_id() -> None:
    document = markdown("Some text.")
    makers = itertools.product(["a.md", "b.md"], ["default", "hr"])
    assert len({chunk_document(document, source, space, SMALL)[0].id for source, space in makers}) == 4


def test_a_sentence_is_cut_only_when_it_alone_is_too_long() -> None:
    sentences = [f"Sentence number {number} says something." for number in range(20)]
    document = markdown(" ".join(sentences))
    ends = {end for _, end in sentence_spans(document.text)}
    assert all(chunk.end in ends for chunk in chunked(document))
    long = markdown("word " * 100 + "end.")
    assert all(set(chunk.text.split()) <= {"word", "end."} for chunk in chunked(long))


def test_text_without_any_space_is_cut_too() -> None:
    assert [len(chunk.text) for chunk in chunked(markdown("x" * 250))] == [100, 100, 50]


def test_a_chunk_never_crosses_a_heading_even_one_of_the_same_name() -> None:
    document = markdown("## Example\n\nOne.\n\n## Example\n\nTwo.")
    assert [(chunk.heading, chunk.text) for chunk in chunked(document)] == [("Example", "One."), ("Example", "Two.")]


def test_short_paragraphs_of_a_section_share_a_chunk() -> None:
    assert [chunk.text for chunk in chunked(markdown("One.\n\nTwo.\n\nThree."))] == ["One.\n\nTwo.\n\nThree."]


def test_a_chunk_repeats_whole_sentences_of_the_one_before() -> None:
    document = markdown(" ".join(f"Sentence number {number:02} is here." for number in range(10)))
    first, second, *_ = chunked(document, OVERLAPPING)
    assert second.start < first.end
    assert second.text.startswith("Sentence number")
    assert first.text.endswith(document.text[second.start : first.end])


def test_no_chunk_lies_within_another() -> None:
    document = markdown(" ".join(f"Sentence number {number:02} is here." for number in range(50)))
    spans = [(chunk.start, chunk.end) for chunk in chunked(document, OVERLAPPING)]
    assert all(a < b and a_end < b_end for (a, a_end), (b, b_end) in itertools.pairwise(spans))


def test_rows_of_a_table_are_not_cut() -> None:
    rows = [f"| item {number} | {number}.00 francs |" for number in range(30)]
    lines = {line for chunk in chunked(markdown("\n".join(rows))) for line in chunk.text.split("\n")}
    assert lines == set(rows)


def test_a_list_item_keeps_its_continuation_lines() -> None:
    items = [f"- item {number} begins here\n  and goes on there" for number in range(10)]
    for chunk in chunked(markdown("\n".join(items))):
        assert chunk.text.startswith("- item")
        assert chunk.text.endswith("and goes on there")


def test_a_chunk_knows_title_heading_source_namespace_and_metadata() -> None:
    document = markdown("---\nauthor: A. Clerk\n---\n# Guide\n\n## Money\n\n### Refunds\n\nWithin 30 days.")
    (chunk,) = chunk_document(document, "guides/a.md", "hr", SMALL)
    assert (chunk.title, chunk.heading, chunk.source, chunk.namespace) == (
        "Guide",
        "Money > Refunds",
        "guides/a.md",
        "hr",
    )
    assert chunk.metadata == {"author": "A. Clerk", "format": "markdown"}


def test_what_is_embedded_is_more_than_what_is_stored() -> None:
    (chunk,) = chunked(markdown("# Guide\n\n## Refunds\n\nWithin 30 days."))
    assert chunk.text == "Within 30 days."
    assert enriched(chunk) == "Guide\nRefunds\nWithin 30 days."


@pytest.mark.parametrize(("breaks", "page"), [(((0, 1),), 1), (((0, 1), (5, 2)), 1)])
def test_a_chunk_is_on_the_page_it_begins_on(breaks: tuple[tuple[int, int], ...], page: int) -> None:
    (chunk,) = chunked(from_pieces([Piece("Some text over two pages.", pages=breaks)]))
    assert chunk.page == page


def test_sentences_of_different_pages_are_in_different_chunks() -> None:
    document = from_pieces([Piece("First page. Second page.", pages=((0, 1), (12, 2)))])
    assert [(chunk.text, chunk.page) for chunk in chunked(document)] == [("First page.", 1), ("Second page.", 2)]
