"""Headings and paragraphs from the sizes and places of lines."""

from condensery.retrieval.parsed import Piece
from condensery.retrieval.pdf_layout import Line, pieces_of


def page(number: int, *lines: tuple[str, float] | str, bold: str = "") -> list[Line]:
    """Lines 14 points apart; an empty string leaves a gap; a tuple gives a font size other than 10."""
    y, made = 800.0, []
    for line in lines:
        y -= 14
        text, size = line if isinstance(line, tuple) else (line, 10.0)
        if text:
            made.append(Line(text, size, text == bold, y, number))
    return made


def found(lines: list[Line]) -> list[tuple[int, str]]:
    return [(piece.level, piece.text) for piece in pieces_of(lines)]


def test_larger_text_is_a_heading_and_the_largest_is_the_highest() -> None:
    lines = page(1, ("The Report", 18), ("Summary", 12), "It went well and everyone who came was glad of it.")
    assert found(lines) == [
        (1, "The Report"),
        (2, "Summary"),
        (0, "It went well and everyone who came was glad of it."),
    ]


def test_a_bold_line_of_its_own_is_a_heading_and_a_bold_sentence_is_not() -> None:
    body = "The quick brown fox jumps over the lazy dog again."
    assert found(page(1, "Terms", body, bold="Terms"))[0] == (1, "Terms")
    assert found(page(1, "Mind the gap.", body, bold="Mind the gap."))[0][0] == 0


def test_a_heading_of_two_lines_is_one() -> None:
    body = "A long line of running text that is much longer than any heading."
    assert found(page(1, ("A title that needs", 18), ("two lines", 18), body))[0] == (1, "A title that needs two lines")


def test_a_wider_gap_begins_a_paragraph() -> None:
    lines = page(1, "The first paragraph has a line and", "another one here.", "", "The second one follows it.")
    assert [text for _, text in found(lines)] == [
        "The first paragraph has a line and another one here.",
        "The second one follows it.",
    ]


def test_a_word_hyphenated_at_a_line_end_becomes_whole() -> None:
    assert found(page(1, "This is an exam-", "ple of an Anglo-", "Saxon word."))[0][1] == (
        "This is an example of an Anglo- Saxon word."
    )


def test_lines_of_japanese_are_joined_without_spaces() -> None:
    assert found(page(1, "請求書を送って", "ください。")) == [(0, "請求書を送ってください。")]


def test_the_rows_of_a_table_stay_rows() -> None:
    wide = "A full line of running text that reaches from margin to margin of the page."
    lines = page(1, wide, "", "Cheese 19.80", "Milk 1.65", "Butter 15.20")
    assert list(pieces_of(lines))[-1] == Piece("Cheese 19.80\nMilk 1.65\nButter 15.20", 0, True, ((0, 1),))


def test_list_items_are_paragraphs_of_their_own() -> None:
    lines = page(1, "• the first item", "• the second item")
    assert [text for _, text in found(lines)] == ["• the first item", "• the second item"]


def test_page_numbers_and_running_headers_are_dropped() -> None:
    lines = [
        line
        for number in range(1, 5)
        for line in page(number, f"ACME manual, page {number}", f"Text number {'x' * number} here.", str(number))
    ]
    assert [text for _, text in found(lines)] == [f"Text number {'x' * number} here." for number in range(1, 5)]


def test_the_running_title_of_two_pages_is_dropped_when_it_counts_them() -> None:
    lines = page(1, "Where it began.", "A Short History 1") + page(2, "How it went on.", "A Short History 2")
    assert "Short History" not in " ".join(text for _, text in found(lines))
    chance = page(1, "Both sides agree.") + page(2, "Both sides agree.")
    assert " ".join(text for _, text in found(chance)).count("Both sides agree.") == 2


def test_a_paragraph_says_where_each_of_its_pages_begins() -> None:
    (piece,) = pieces_of([*page(1, "It goes on over the"), *page(2, "end of the page.")])
    assert piece == Piece("It goes on over the end of the page.", 0, False, ((0, 1), (19, 2)))


def test_no_lines_give_no_pieces() -> None:
    assert found([]) == []
