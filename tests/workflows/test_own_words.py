import pytest
from hypothesis import given
from hypothesis import strategies as st

from condensery.workflows.own_words import is_plain, own_words, question_in

LOG = "2026-01-05 12:00:01 WARN pump 3 pressure low, retrying in 20 s\n" * 60


@pytest.mark.parametrize(
    "message",
    [
        f"<context>{LOG}</context> What is the notice period?",
        f"What is the notice period?\n```\n{LOG}\n```",
        f"What is the notice period?\n\n```\n{LOG}",
        f"> {LOG.replace(chr(10), chr(10) + '> ')}\nWhat is the notice period?",
        f'<document index="1">{LOG}</document>\n\nWhat is the notice period?',
        f"<context>{LOG}\n\nWhat is this?</context>\nWhat is the notice period?",
        f"{LOG}\n\nWhat is the notice period?",
        f"What is the notice period?\n\n{LOG}",
    ],
)
def test_of_a_message_with_a_pasted_block_only_the_question_is_left(message: str) -> None:
    assert question_in(message, 512) == "What is the notice period?"


def test_a_short_inlined_context_is_left_out_too() -> None:
    assert question_in("<context>The code is MARK-7.</context> Who knows it?", 512) == "Who knows it?"


@pytest.mark.parametrize("message", ["How long is it?", "a < b and c > d?", "x <y", "tell me about 5 > 3", "{a} {{b}}"])
def test_an_ordinary_message_is_left_as_it_is(message: str) -> None:
    assert question_in(message, 512) == message


def test_a_long_message_without_a_question_has_none() -> None:
    assert question_in(LOG, 512) is None
    assert question_in("word " * 500, 512) is None
    assert question_in("<context>only this</context>", 512) is None


FAQ = "\n\n".join(f"Question {n}: May employee {n} see the salary of {n + 1}?" for n in range(30))
ANSWERED_FAQ = "\n\n".join(f"May employee {n} see it?\n\nNo, employee {n} may not." for n in range(30))


def test_questions_inside_a_paste_are_not_the_persons_own() -> None:
    assert question_in(f"What is the notice period?\n\n{ANSWERED_FAQ}", 512) == "What is the notice period?"
    assert question_in(f"{ANSWERED_FAQ}\n\nWhat is the notice period?", 512) is None  # it may as well be the FAQ's
    assert question_in(f"Our FAQ:\n\n{ANSWERED_FAQ}\n\nWhat is the notice period?", 512) == "What is the notice period?"
    assert question_in(f"What is the notice period?\n\n{FAQ}", 512) is None
    assert question_in(f"What does this say?\n\n{'It is long, is it? Yes it is. ' * 40}", 512) == "What does this say?"


@pytest.mark.parametrize(
    "message",
    [
        "What does List<String> mean in Java?",
        "How do I use <div> in the template?",
        "> 5 years of service: what notice do I get?",
        "Compare these:\n- a\n- b\n- c\n- d",
    ],
)
def test_a_message_about_markup_is_not_mutilated(message: str) -> None:
    assert question_in(message, 512) == " ".join(message.split())
    assert is_plain(message, 512)


def test_formatting_leaves_its_words() -> None:
    assert question_in("How much is a <b>dog</b> ticket?", 512) == "How much is a dog ticket?"
    assert (
        question_in('See <a href="x">here</a>: how <em class="y">long</em> is it?', 512) == "See here: how long is it?"
    )


def test_a_message_with_a_paste_is_not_plain() -> None:
    assert not is_plain("<context>The code is MARK-7.</context> Who knows it?", 512)


def test_of_several_questions_the_last_that_fit_are_kept() -> None:
    message = f"{'filler words here. ' * 40} First question here? Second question here?"
    assert question_in(message, 45) == "First question here? Second question here?"
    assert question_in(message, 30) == "Second question here?"


@given(st.text(max_size=2000), st.integers(min_value=1, max_value=600))
def test_a_question_is_never_blank_and_never_long(message: str, max_chars: int) -> None:
    found = question_in(message, max_chars)
    assert found is None or (found.strip() and len(found) <= max_chars)


@given(st.text(alphabet="MARK \n.?!", min_size=1, max_size=400), st.sampled_from(["context", "doc", "file", "a:b"]))
def test_nothing_of_a_tagged_block_is_left(block: str, tag: str) -> None:
    assert "M" not in own_words(f"what is it? <{tag}>{block}</{tag}> and why?")
