"""Readers: what becomes of each format, and why a file is refused."""

import contextlib
import io
from collections.abc import Callable, Sequence
from random import Random

import docx
import pytest
from docx.enum.style import WD_STYLE_TYPE
from hypothesis import given
from hypothesis import strategies as st
from pypdf import PdfReader, PdfWriter

from condensery.retrieval.parsed import ParsedDocument, Unreadable
from condensery.retrieval.readers import READERS, read_document

MakePdf = Callable[[Sequence[str]], bytes]
JAPANESE = "請求書を送ってください。明日までにお願いします。" * 3


def blocks(document: ParsedDocument) -> list[tuple[str, str]]:
    """The heading and text of each block."""
    return [(block.heading, document.text[block.start : block.end]) for block in document.blocks]


def refused(name: str, data: bytes) -> str:
    with pytest.raises(Unreadable) as caught:
        read_document(name, data)
    return str(caught.value)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"plain", "plain"),
        ("Zürich – 5 €".encode(), "Zürich – 5 €"),
        ("\ufeffmarked é".encode(), "marked é"),
        ("marked é".encode("utf-16"), "marked é"),
        ("marked é".encode("utf-32"), "marked é"),
        ("unmarked é and more".encode("utf-16-le"), "unmarked é and more"),
        ("Zürich, Genève und Köln".encode("cp1252"), "Zürich, Genève und Köln"),
        (JAPANESE.encode("shift_jis"), JAPANESE),
        ("gut: ä ö ü, schlecht: ".encode() + b"\xff.", "gut: ä ö ü, schlecht: \ufffd."),
        (b"a\x00b", "ab"),
        ("lone \ud800 surrogate".encode("utf-8", "surrogatepass"), "lone \ufffd surrogate"),
        ("pair \ud83d\ude00".encode("utf-8", "surrogatepass"), "pair 😀"),
        (b"one\r\ntwo\rthree\x0cfour", "one\ntwo\nthree\nfour"),
    ],
)
def test_text_is_decoded_and_cleaned(data: bytes, text: str) -> None:
    assert read_document("a.txt", data).text == text


@given(st.binary(max_size=300))
def test_no_bytes_make_the_decoder_fail_or_leave_what_postgres_refuses(data: bytes) -> None:
    try:
        text = read_document("a.txt", data).text
    except Unreadable:
        return
    assert "\x00" not in text
    text.encode()


@pytest.mark.parametrize("suffix", sorted(READERS))
@given(data=st.binary(max_size=200))
def test_every_reader_returns_text_or_a_reason_whatever_the_bytes(suffix: str, data: bytes) -> None:
    try:
        document = read_document(f"a{suffix}", data)
    except Unreadable:
        return
    assert document.text.strip()
    assert document.title


def test_the_title_comes_from_the_name_when_the_document_has_none() -> None:
    assert read_document("refund_policy-2025.txt", b"Some text.").title == "refund policy 2025"


def test_the_format_is_metadata() -> None:
    assert read_document("a.md", b"Some text.").metadata == {"format": "markdown"}


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.txt", b"", "empty file"),
        ("a.txt", b" \n ", "empty file"),
        ("a.md", b"---\ntitle: x\n---\n", "no text"),
        ("a.html", b"<html><head><title>x</title></head><script>1</script></html>", "no text"),
        ("a.txt", "\u200b \u200d\u2060\n\ufeff \u00ad".encode(), "no text"),
        ("a.txt", Random(1).randbytes(50_000), "binary data"),  # noqa: S311
        ("a.csv", Random(2).randbytes(500), "binary data"),  # noqa: S311
        ("a.PNG", b"\x89PNG", "unknown format '.png'"),
        ("README", b"text", "unknown format ''"),
        ("a.pdf", b"this is no PDF", "damaged PDF"),
        ("a.docx", b"this is no Word file", "damaged Word document"),
        ("a.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1rest", "password-protected Word document"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_a_reason(name: str, data: bytes, reason: str) -> None:
    assert reason in refused(name, data)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1251", "koi8-r", "iso-8859-5", "cp866", "mac-cyrillic"])
def test_an_older_encoding_is_not_taken_for_binary_data(encoding: str) -> None:
    text = "Счёт за ремонт крыши пришёл вчера, и оплатить его нужно до конца месяца. " * 5
    assert read_document("a.txt", text.encode(encoding)).text


def test_a_coloured_log_is_text() -> None:
    assert "started" in read_document("a.log", b"\x1b[32mINFO\x1b[0m started\n\x1b[31mERROR\x1b[0m x\n").text


def test_markdown_headings_become_paths_and_the_first_one_the_title() -> None:
    text = "# Guide\n\nIntro.\n\n## Money\n\n### Refunds ###\n\nWithin 30 days.\n\nHours\n-----\nNine to five."
    document = read_document("a.md", text.encode())
    assert document.title == "Guide"
    assert blocks(document) == [("", "Intro."), ("Money > Refunds", "Within 30 days."), ("Hours", "Nine to five.")]


def test_a_hash_inside_a_code_fence_is_no_heading() -> None:
    document = read_document("a.md", b"# Guide\n\n```sh\n# a comment\n\nmake all\n```\n\nAfter.")
    assert blocks(document) == [("", "```sh\n# a comment\n\nmake all\n```"), ("", "After.")]


def test_a_heading_with_nothing_under_it_stays_text() -> None:
    document = read_document(
        "a.md", b"# Guide\n\n## Refunds: 30 days\n\n## Hours\n\nNine to five.\n\n## Closed on Mondays"
    )
    assert [text for _, text in blocks(document)] == ["Refunds: 30 days", "Nine to five.", "Closed on Mondays"]


def test_front_matter_becomes_title_and_metadata() -> None:
    document = read_document("a.md", b'---\ntitle: "Leave"\ndepartment: HR\nempty:\n---\nText: here.')
    assert (document.title, document.text) == ("Leave", "Text: here.")
    assert document.metadata == {"department": "HR", "format": "markdown"}


def test_plain_text_headings_are_recognized() -> None:
    text = "THE HANDBOOK\nfor everyone\n\nOpening hours\n\nWe open at nine.\n\nPrices\n======\nTen francs."
    document = read_document("a.txt", text.encode())
    assert document.title == "THE HANDBOOK"
    assert blocks(document) == [
        ("", "for everyone"),
        ("Opening hours", "We open at nine."),
        ("Prices", "Ten francs."),
    ]


def test_a_list_of_short_lines_is_not_taken_for_headings() -> None:
    document = read_document("a.txt", b"Apples\n\nPears\n\nPlums")
    assert [text for _, text in blocks(document)] == ["Apples", "Pears", "Plums"]


HTML = """<!DOCTYPE html><html><head><title>Fares &amp; rules</title><meta name="author" content="A. Clerk">
<style>p {}</style></head><body><nav>Home | About</nav><!-- hidden -->
<h1>Fares &amp; rules</h1><div>Loose <b>text</b><br>second line</div>
<section><h2>Prices</h2><p>Ten
 francs.</p><table><tr><th>Who</th><th>Price</th></tr><tr><td>Child</td><td>5</td></tr></table>
<ul><li>one<ol><li>inner</li></ol></li><li>two</li></ul><pre>  code
    here</pre></section><script>track()</script></body></html>"""


def test_html_is_read_as_a_person_reads_the_page() -> None:
    document = read_document("a.html", HTML.encode())
    assert document.title == "Fares & rules"
    assert document.metadata["author"] == "A. Clerk"
    assert blocks(document) == [
        ("", "Loose text\nsecond line"),
        ("Prices", "Ten francs."),
        ("Prices", "| Who | Price |\n| Child | 5 |"),
        ("Prices", "- one\n  1. inner\n- two"),
        ("Prices", "  code\n    here"),
    ]


def test_the_encoding_an_html_page_declares_is_honoured() -> None:
    page = '<meta charset="iso-8859-5"><p>Привет, мир</p>'.encode("iso-8859-5")
    assert read_document("a.html", page).text == "Привет, мир"


def test_word_headings_lists_and_tables_are_read_in_order() -> None:
    word = docx.Document()
    word.add_heading("Handbook", 0)
    word.add_paragraph("Welcome.")
    own = word.styles.add_style("House heading", WD_STYLE_TYPE.PARAGRAPH)
    own.base_style = word.styles["Heading 1"]
    word.add_paragraph("Leave", style=own)
    word.add_paragraph("25 days", style="List Bullet")
    word.add_paragraph("no carry-over", style="List Bullet")
    table = word.add_table(rows=2, cols=2)
    for cell, text in zip([*table.rows[0].cells, *table.rows[1].cells], ["Who", "Days", "Trainee", "30"], strict=True):
        cell.text = text
    word.add_paragraph("After the table.")
    word.core_properties.author = "A. Clerk"
    buffer = io.BytesIO()
    word.save(buffer)
    document = read_document("a.docx", buffer.getvalue())
    assert (document.title, document.metadata["author"]) == ("Handbook", "A. Clerk")
    assert blocks(document) == [
        ("", "Welcome."),
        ("Leave", "- 25 days\n- no carry-over"),
        ("Leave", "| Who | Days |\n| Trainee | 30 |"),
        ("Leave", "After the table."),
    ]


def test_pdf_text_knows_its_page(make_pdf: MakePdf) -> None:
    document = read_document("a.pdf", make_pdf(["The first page ends here.", "The second page."]))
    pages = [document.page_at(document.text.index(word)) for word in ("first", "here", "second")]
    assert pages == [1, 1, 2]


def test_a_sentence_that_runs_over_the_end_of_a_page_stays_whole(make_pdf: MakePdf) -> None:
    document = read_document("a.pdf", make_pdf(["The contract ends with the", "month of March."]))
    assert blocks(document) == [("", "The contract ends with the month of March.")]
    assert document.page_at(document.text.index("March")) == 2


def test_a_pdf_without_text_is_refused(make_pdf: MakePdf) -> None:
    assert "PDF without text" in refused("scan.pdf", make_pdf(["", ""]))


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-256"])
def test_a_password_protected_pdf_is_refused(make_pdf: MakePdf, algorithm: str) -> None:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(make_pdf(["Secret."]))))
    writer.encrypt("open sesame", algorithm=algorithm)
    buffer = io.BytesIO()
    writer.write(buffer)
    assert "password-protected PDF" in refused("a.pdf", buffer.getvalue())


def test_a_pdf_that_only_forbids_editing_is_read(make_pdf: MakePdf) -> None:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(make_pdf(["Open to all."]))))
    writer.encrypt("", "owner", algorithm="RC4-128")
    buffer = io.BytesIO()
    writer.write(buffer)
    assert read_document("a.pdf", buffer.getvalue()).text == "Open to all."


def test_a_truncated_pdf_is_refused_or_read_but_never_fatal(make_pdf: MakePdf) -> None:
    data = make_pdf(["Some text on a page."])
    for length in range(1, len(data), 37):
        with contextlib.suppress(Unreadable):
            assert read_document("a.pdf", data[:length]).text
