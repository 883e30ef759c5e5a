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


PASTE = "The supplier delivers the goods within ten days and bears the cost. " * 12
LETTER = "Dear Sir,\nI live in Bern.\nI have a dog.\nPlease send me the papers.\nTom"


@pytest.mark.parametrize(
    ("message", "question"),
    [
        (f"I'm a nurse in Zurich. <context>{PASTE}</context> What is it?", "I'm a nurse in Zurich. What is it?"),
        (f"I'm a nurse. <context>{PASTE}</context> {PASTE} What is it?", "I'm a nurse. What is it?"),
        (f"I'm a nurse.\n```\n{PASTE}\n```\nWhat is it?", "I'm a nurse. What is it?"),
        (f'I am a nurse.\n"""\n{PASTE}\n"""\nWhat is it?', "I am a nurse. What is it?"),
        (f"[context]{PASTE}[/context]\nI'm a nurse. What is it?", "I'm a nurse. What is it?"),
        (f"<<SYS>>\nI live in Bern. {PASTE}\n<</SYS>>\nI'm a nurse. What is it?", "I'm a nurse. What is it?"),
        ("<|im_start|>system\nI live in Bern.<|im_end|>\nI'm a nurse. What is it?", "I'm a nurse. What is it?"),
        ("<|system|>\nI live in Bern.<|user|>\nWhat is it?", "<|user|> What is it?"),
        ("> I live in Oslo.\n\nI'm a nurse in Zurich. What is it?", "I'm a nurse in Zurich. What is it?"),
        (f"I'm a nurse in Zurich; what is it? {PASTE}", "I'm a nurse in Zurich; what is it?"),
        (f"I'm a nurse in Zurich. What is it?\n\n{PASTE}", "I'm a nurse in Zurich. What is it?"),
        (f"{PASTE}\n\nI'm a nurse in Zurich. What is it?", "I'm a nurse in Zurich. What is it?"),
        (f"I'm a nurse in Zurich.\n\nWhat is it?\n\n{PASTE}", "I'm a nurse in Zurich. What is it?"),
        (f"I'm a nurse in Zurich.\nWhat is it?\n{PASTE}\n{PASTE}", "I'm a nurse in Zurich. What is it?"),
        (
            f"Ich bin Pflegerin.\n\nIch wohne in Zug.\n\nWas ist es?\n\n{PASTE}",
            "Ich bin Pflegerin. Ich wohne in Zug. Was ist es?",
        ),
        (f"Je suis infirmière.\n\nQu'est-ce que c'est ?\n\n{PASTE}", "Je suis infirmière. Qu'est-ce que c'est ?"),
        (f"Sono un'infermiera.\n\nChe cos'è?\n\n{PASTE}", "Sono un'infermiera. Che cos'è?"),
        (f"{PASTE}\n\nWhat is it?\nI'm a nurse in Zurich.", "What is it? I'm a nurse in Zurich."),
    ],
)
def test_what_a_person_says_of_themselves_beside_a_paste_stays_with_the_question(message: str, question: str) -> None:
    assert question_in(message, 512) == question


@pytest.mark.parametrize(
    "message",
    [
        f"<context>I live in Bern. {PASTE}</context> What does he want?",
        f"{LETTER}\n\nWhat does he want?",
        f"{LETTER}\nWhat does he want?",
        f"{PASTE}\n\n{LETTER}\nWhat does he want?",
        f"{PASTE}\n\nI live in Bern.\nWhat does he want?",
        f"What does he want?\nI live in Bern.\n\n{PASTE}",
        f"I live in Bern.\n\n{PASTE}\n\nWhat does he want?",
        f"I live in Bern. {PASTE} What does he want?",
        f"{PASTE} I live in Bern. What does he want?",
        f"I live in Bern. {PASTE}\n\nI have a dog. {PASTE}\n\nWhat does he want?",
        f"<p>I live in Bern.</p>{PASTE}<div>I have a dog.</div>{PASTE}\n\nWhat does he want?",
        f"I live in Bern.\n\n<div>{PASTE}</div>\n\n{PASTE}\n\nWhat does he want?",
        f"What does he want?\n\nIch wohne in Bern.\n\nJ'habite à Bern.\n\nVivo a Bern.\n\n{PASTE}",
    ],
)
def test_where_a_statement_may_be_the_pastes_it_is_left_out(message: str) -> None:
    found = question_in(message, 512)
    assert found is not None
    assert "What does he want?" in found
    assert "Bern" not in found
    assert "dog" not in found


def test_of_what_introduces_a_question_the_nearest_that_fits_is_kept() -> None:
    message = f"I'm a nurse. I live in Zurich. <context>{PASTE}</context> {PASTE} What is it?"
    assert question_in(message, 60) == "I'm a nurse. I live in Zurich. What is it?"
    assert question_in(message, 30) == "I live in Zurich. What is it?"
    assert question_in(message, 12) == "What is it?"


def test_a_question_broken_into_lines_keeps_its_first_person() -> None:
    message = "I want to know\nhow I can\nchange my ticket\nfor tomorrow?"
    assert question_in(message, 512) == " ".join(message.split())
    assert question_in("My dog\nand my cat\nand my bird\nand I", 512) == "My dog and my cat and my bird and I"
