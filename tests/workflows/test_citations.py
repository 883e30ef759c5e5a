import pytest
from hypothesis import given
from hypothesis import strategies as st

from condensery.retrieval.types import Chunk, ScoredChunk
from condensery.workflows.citations import CitationFilter, cited

CHUNKS = tuple(ScoredChunk(chunk=Chunk(id=f"c{i}", text="t", source=f"s{i}"), score=1) for i in (1, 2))


def filtered(pieces: list[str], sent: int = 2) -> str:
    check = CitationFilter(sent)
    return "".join([*(check.feed(piece) for piece in pieces), check.finish()])


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("It is long [1].", "It is long [1]."),
        ("It is long [3].", "It is long."),
        ("It is long [0][2]", "It is long[2]"),
        ("an array a[i] and [note] stay", "an array a[i] and [note] stay"),
        ("both [1, 2] and [1-3] and【2】", "both [1][2] and [1][2] and[2]"),
        ("none [3, 4]", "none"),
        ("years [1998-2004] stay", "years [1998-2004] stay"),
        ("ends with [", "ends with ["),
        ("ends with [1", "ends with [1"),
    ],
)
def test_marks_of_chunks_that_were_not_sent_are_dropped(text: str, kept: str) -> None:
    assert filtered([text]) == kept


@given(st.lists(st.text(alphabet="a [12]3,-【】\n", max_size=6), max_size=12))
def test_a_stream_gives_the_same_text_however_it_is_split(pieces: list[str]) -> None:
    assert filtered(pieces) == filtered(["".join(pieces)])


def test_citations_are_listed_once_in_order_of_appearance() -> None:
    found = cited("b [2] a [1] b again [2], and [7]", CHUNKS)
    assert [(citation.number, citation.source) for citation in found] == [(2, "s2"), (1, "s1")]
