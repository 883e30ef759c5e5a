"""Search terms: the same for chunks and questions, in any script."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condensery.retrieval.tokenize import terms


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Refunds", "refund"),
        ("CANCELLED", "cancelled"),
        ("Café", "cafe"),
        ("Zürich", "zurich"),
        ("Cafe\u0301", "café"),
        ("ＡＢＣ", "abc"),
        ("ﬁle", "file"),
        ("Straße", "strasse"),
        ("O'Neil's", "O Neil"),
        ("l’amortisseur", "l amortisseur"),
        ("snake_case_name", "snake case name"),
        ("ｶﾞｲﾄﾞ", "ガイド"),
        ("\u1112\u1161\u11ab\u1100\u116e\u11a8", "한국"),
    ],
)
def test_spellings_of_the_same_word_give_the_same_terms(one: str, other: str) -> None:
    assert terms(one) == terms(other)
    assert terms(one)


def test_stop_words_and_punctuation_give_no_terms() -> None:
    assert terms("the of, and — what's it? 👍 ...") == []


def test_numbers_and_codes_are_kept() -> None:
    assert terms("Error E-4032 in v2 on 3 May, vitamin C") == ["error", "e", "4032", "v2", "3", "may", "vitamin", "c"]


def test_repeats_and_order_are_kept() -> None:
    assert terms("fox dog fox") == ["fox", "dog", "fox"]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("請求書", "先月の請求書を送ってください。"),
        ("請求", "先月の請求書を送ってください。"),
        ("書", "先月の請求書を送ってください。"),
        ("カタログ", "新しいカタログができました。"),
        ("退款", "如何申请退款？"),
        ("환불", "환불은 30일 이내에 가능합니다."),
        ("เอกสาร", "กรุณาส่งเอกสารภายในวันศุกร์"),
        ("हिन्दी", "यह किताब हिन्दी में है।"),
        ("مدرسة", "هذه مدرسة كبيرة"),
    ],
)
def test_a_word_is_found_inside_text_of_its_script(question: str, text: str) -> None:
    assert set(terms(question)) <= set(terms(text))


def test_words_beside_unspaced_script_are_words_of_their_own() -> None:
    assert set(terms("iPhone 15")) <= set(terms("新しいiPhone 15の価格"))


@pytest.mark.parametrize("other", ["領収書", "注文"])
def test_another_japanese_word_does_not_match_in_full(other: str) -> None:
    assert not set(terms(other)) <= set(terms("先月の請求書を送ってください。"))


@given(st.text())
def test_any_text_gives_lower_case_terms_without_white_space(text: str) -> None:
    assert all(term and term == term.lower() and not any(map(str.isspace, term)) for term in terms(text))


@given(st.text(), st.text())
def test_a_text_has_the_terms_of_its_paragraphs(one: str, other: str) -> None:
    assert terms(f"{one}\n\n{other}") == terms(one) + terms(other)
