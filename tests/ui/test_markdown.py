from condensery.ui.markdown import prose, verbatim, without_directives


def test_verbatim_text_has_every_sign_escaped() -> None:
    assert verbatim("1. *a* [b](c) `d` <e>") == r"1\. \*a\* \[b\]\(c\) \`d\` \<e\>"


def test_prose_keeps_its_signs_unless_they_would_vanish_or_turn_into_emphasis() -> None:
    assert prose("“At 10:30, from:to, *this* (12.50).” [1]") == r"“At 10:30, from\:to, \*this\* (12.50).” [1]"


def test_a_quoted_row_of_a_table_reads_like_a_line() -> None:
    assert prose("“| Single | 19.00 |” [1]\n\n“Single | 19.00” [2]") == "“Single · 19.00” [1]\n\n“Single · 19.00” [2]"


def test_a_directive_is_escaped_but_not_in_code() -> None:
    assert without_directives("Mo:Fr `a:b` https://x.org") == r"Mo\:Fr `a:b` https://x.org"
    assert without_directives("```\na:b\n```\nc:d") == "```\na:b\n```\nc\\:d"
