import pytest

from condensery.prompts.loader import prompts_for
from condensery.retrieval.types import Chunk
from condensery.ui.passages import file_name, passage
from condensery.workflows.turn import Citation

TABLE = "| Ticket | Price |\n|---|---|\n| Single | 19.00 |\n| Return | 32.00 |"


def shown(text: str, *quotes: str, source: str = "tariffs.txt", **about: object) -> str:
    """The side view of a chunk with that text, of which `quotes` are cited."""
    chunk = Chunk.model_validate({"id": "c", "text": text, "source": source} | about)
    cited = [
        Citation(number=1, chunk_id="c", source=source, quote=quote, start=start, end=start + len(quote))
        for quote in quotes
        for start in [text.index(quote)]
    ]
    return passage(chunk, cited, prompts_for("en"))


def body(text: str, *quotes: str, source: str = "tariffs.txt") -> str:
    return shown(text, *quotes, source=source).partition("---\n\n")[2]


def test_a_passage_says_where_it_is_from() -> None:
    text = shown("Hello.", source="/data/a_b.pdf", page=3, title="All about it", heading="The start")
    assert text.startswith("**a\\_b\\.pdf** · page 3\n\n*All about it › The start*\n\n---\n\n")


def test_a_title_that_is_the_file_name_is_not_said_twice() -> None:
    assert shown("Hello", title="tariffs.txt") == "**tariffs\\.txt**\n\n---\n\nHello"


@pytest.mark.parametrize("source", ["/a/b/notes.txt", r"C:\a\b\notes.txt", "notes.txt"])
def test_a_source_is_named_by_its_file(source: str) -> None:
    assert file_name(source) == "notes.txt"


def test_every_quote_is_bold_and_the_rest_is_verbatim() -> None:
    assert body("A *b*. C d. E f.", "A *b*.", "E f.") == r"**A \*b\*\.** C d\. **E f\.**"


def test_a_quote_over_two_lines_is_bold_on_each() -> None:
    assert body("One two\nthree four", "two\nthree") == "One **two**\n**three** four"


def test_overlapping_quotes_are_bold_once() -> None:
    assert body("one two three", "one two", "two three") == "**one two** **three**"


def test_indentation_is_kept_without_becoming_code() -> None:
    assert body("def f():\n    return") == "def f\\(\\)\\:\n\u00a0\u00a0\u00a0\u00a0return"


def test_a_table_is_a_table_with_the_quoted_row_in_bold() -> None:
    row = "| Return | 32.00 |"
    assert body(f"Prices.\n{TABLE}\nThat is all.", row).split("\n") == [
        r"Prices\.",
        "",
        "| Ticket | Price |",
        "| --- | --- |",
        r"| Single | 19\.00 |",
        r"| **Return** | **32\.00** |",
        "",
        r"That is all\.",
    ]


def test_the_rest_of_a_table_gets_an_empty_head() -> None:
    assert body("Single | 19\nReturn | 32").split("\n") == [
        "|  |  |",
        "| --- | --- |",
        "| Single | 19 |",
        "| Return | 32 |",
    ]


def test_a_bar_in_prose_is_no_table() -> None:
    assert body("either | or") == r"either \| or"


def test_markdown_is_shown_as_markdown_with_the_quote_in_bold_behind_its_bullet() -> None:
    text = "Read **this**:\n\n- one thing\n- another `a:b`"
    assert body(text, "- one thing", source="x.md") == "Read **this**:\n\n- **one thing**\n- another `a:b`"
    assert body(text, "Read **this**", source="x.md").startswith("**Read this**:")


def test_a_picture_in_markdown_is_not_fetched() -> None:
    assert body("![map](https://example.org/x.png)", source="x.md") == r"\![map](https://example.org/x.png)"
