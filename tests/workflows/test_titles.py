import pytest
from hypothesis import given
from hypothesis import strategies as st

from condensery.workflows.titles import TITLE_CHARS, title_of, title_of_message, usable_title


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("How much is a ticket for a dog on the funicular?", "Ticket for a dog on the funicular"),
        ("When does the first car go up on weekdays?", "First car go up on weekdays"),
        ("I live in Oslo and I'm vegetarian. How much is a ticket for a dog?", "Ticket for a dog"),
        ("Wie viel kostet eine Fahrkarte für einen Hund?", "Fahrkarte für einen Hund"),
        ("Qu’est-ce que l'assurance couvre ?", "Assurance couvre"),
        ("Quanto costa un biglietto per un cane?", "Biglietto per un cane"),
        ("Who was the first engineer (1898)?", "First engineer 1898"),
        ("What do you remember about me?", "What do you remember about me"),
        ("Why?", "Why"),
        ("hi", "Hi"),
        ("👍", "👍"),
        ("請求書はどこですか？", "請求書はどこですか"),
    ],
)
def test_a_title_runs_from_the_first_key_term_to_the_last(question: str, title: str) -> None:
    assert title_of(question) == title


def test_a_long_title_is_cut_after_a_key_term() -> None:
    title = title_of(
        "Tell me about the annual report of 2023 and the costs of the new cable and of its yearly inspection"
    )
    assert title == "Annual report of 2023 and the costs of the new cable…"
    assert len(title) <= TITLE_CHARS


def test_pasted_text_gives_no_title() -> None:
    message = "<doc>The secret merger of Acme.</doc>\n\nHow much is a ticket for a dog?"
    assert title_of_message(message) == "Ticket for a dog"
    assert title_of_message("WARN pump 3 pressure low\n" * 400).startswith("WARN pump")


@given(st.text(max_size=300))
def test_whatever_was_written_the_title_is_one_short_line(message: str) -> None:
    for title in (title_of(message), title_of_message(message)):
        assert len(title) <= TITLE_CHARS
        assert "\n" not in title
        assert not message.strip().isalnum() or title


@pytest.mark.parametrize(
    ("reply", "title"),
    [
        ("Tickets for dogs", "Tickets for dogs"),
        ("“ticket price for dogs.”\n", "Ticket price for dogs"),
        ("", None),
        ("Ticket\nfor a dog", None),
        ("Ticket " * 20, None),
        ("I cannot help with that", None),
    ],
)
def test_a_reply_is_a_title_when_it_is_short_and_about_the_question(reply: str, title: str | None) -> None:
    assert usable_title(reply, "How much is a ticket for a dog?") == title
