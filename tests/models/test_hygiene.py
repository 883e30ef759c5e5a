from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condensery.models.hygiene import StreamCleaner, clean, clean_rewrite, strip_thinking, unquote


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("<think>hmm</think>What is the refund window?", "What is the refund window?"),
        ("<think>\n\n</think>\n\nOslo", "Oslo"),
        ("< Think >hmm</ THINK >Oslo", "Oslo"),
        ("<thinking>hmm</thinking>Oslo", "Oslo"),
        ("<think/>Oslo", "Oslo"),
        ("It is Oslo.<think>really?</think> Yes.", "It is Oslo. Yes."),
        ("<think>a</think>b<think>c</think>d", "bd"),
        ("<think>a<think>b</think>c</think>d", "d"),
        ("<think>I must not write <think> again.</think>Oslo", "Oslo"),
        ('<think>the word is "Oslo"</think>Oslo', "Oslo"),
        ("The user wants the capital.\n</think>\n\nOslo", "Oslo"),
        ("Oslo. <think>Is it", "Oslo."),
        ("<think>hmm</think>", ""),
    ],
)
def test_reasoning_is_no_part_of_a_reply(raw: str, expected: str) -> None:
    assert clean(raw).text == expected


def test_reasoning_that_never_ends_is_reported_as_such() -> None:
    assert clean("<think>Let me see. The user").unfinished_thinking
    assert clean("<think>Let me see. The user").text == ""
    assert strip_thinking("<think>{").unfinished_thinking


@pytest.mark.parametrize("raw", ["", "  \n", "<think>done</think>", "Oslo", "Oslo <think>hm", "reasons</think>"])
def test_a_reply_or_a_closed_block_is_not_unfinished_thinking(raw: str) -> None:
    assert not clean(raw).unfinished_thinking


@pytest.mark.parametrize(
    "text",
    [
        "if a < b and b > c: return <T>",
        '{"a": {"b": [1, 2]}} {question}',
        "Use <thead> and <thinker> elements.",
        "Qwen wraps its reasoning in `<think>` and `</think>` tags.",
        'The closing tag is "</think>".',
        "a <",
        "</",
        "1 <think 2",
        "Question about the config: which port?",
        "Answering this: yes.",
        "Users: 12\nHumans: 3",
        "The question: is it worth it?",
    ],
)
def test_ordinary_text_is_untouched(text: str) -> None:
    assert clean(text).text == text


@pytest.mark.parametrize(
    "label",
    [
        "Standalone question:",
        "The rephrased question is:",
        "Sure! Here is the rephrased question:\n\n",
        "**Answer:**",
        "**Standalone question**:",
        "Answer:",
        "Assistant:",
        "Assistant: Answer:",
        "ANSWER :",
        "Eigenständige Frage:",
        "Die umformulierte Frage lautet:",
        "Hier ist die umformulierte Frage:",
        "Antwort:",
        "Question autonome :",
        "La question reformulée est :",
        "Voici la question reformulée :",
        "Réponse :",
        "Domanda riformulata:",
        "Ecco la domanda riformulata:",
        "La domanda è:",
        "Risposta:",
        "Assistente:",
        "<think>hmm</think>\nAnswer:",
    ],
)
def test_a_label_repeated_from_the_prompt_is_dropped(label: str) -> None:
    assert clean(f"{label} How long is the notice period?").text == "How long is the notice period?"


def test_only_labels_at_the_start_are_dropped() -> None:
    text = "The form has two fields.\nAnswer: free text"
    assert clean(text).text == text


def test_markup_after_a_label_belongs_to_the_reply() -> None:
    assert clean("Answer: **Three months.** See §4.").text == "**Three months.** See §4."
    assert clean("**Answer:** **Three months.**").text == "**Three months.**"


@pytest.mark.parametrize(
    "invented",
    [
        "\nUser: And in Norway?\nAssistant: Four.",
        "\n\nHuman: thanks",
        "\nUSER: more",
        "\nBenutzer: Und dann?",
        "\nUtilisateur : Et ensuite ?",
        "\nUtente: E poi?",
    ],
)
def test_turns_that_the_model_invents_are_cut_off(invented: str) -> None:
    assert clean(f"It is three months.{invented}").text == "It is three months."


@pytest.mark.parametrize(
    "text",
    [
        "User: admin\nPassword: see the letter",
        "```\nlog\nUser: root\n```\ndone",
        "The transcript says:\nUser: hello\nAgent: hi\n\nUser: bye",
        "The transcript says:\n\nUser: hello",
        "Admin: may do everything\nUser: may read",
        "Two roles exist.\n> User: reads\n- User: reads\n  User: reads\n**User:** reads",
        "Ask a person.\nUser experience matters: always.",
    ],
)
def test_lines_that_quote_or_list_a_user_stay(text: str) -> None:
    assert clean(text).text == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"How long is it?"', "How long is it?"),
        ("“How long is it?”", "How long is it?"),
        ("„Wie lange dauert es?“", "Wie lange dauert es?"),
        ("« Combien de temps ? »", "Combien de temps ?"),
        ("'What's the user's name?'", "What's the user's name?"),
        ("`How long is it?`", "How long is it?"),
        ("\"'How long?'\"", "How long?"),
        ('"Acme" or "Zenith"', '"Acme" or "Zenith"'),
        ('"Acme" is what?', '"Acme" is what?'),
        ('"one\ntwo"', '"one\ntwo"'),
        ('"', '"'),
        ("", ""),
    ],
)
def test_quotes_around_one_line_are_dropped(text: str, expected: str) -> None:
    assert unquote(text) == expected


def test_a_rewrite_loses_labels_and_quotes_in_any_nesting() -> None:
    assert clean_rewrite('Question: "How long is it?"').text == "How long is it?"
    assert clean_rewrite('"Standalone question: How long is it?"').text == "How long is it?"
    assert clean_rewrite("<think>x</think>**Rewritten query:** 'How long is it?'").text == "How long is it?"


PARTS = st.sampled_from(
    [
        *("<think>", "</think>", "< think >", "</ thinking >", "<think/>", "<", "</", "<th", "ink>", ">", "`", '"'),
        *("Answer:", "**Answer:**", "Standalone question", ":", "The rephrased ", "question is", "Sure! ", "**", "*"),
        *("\n", "\n\n", " ", "\t", "User:", "Human", "User", "```", "Agent: hi", "says:", "> "),
        *("Oslo", "three months.", "é", "請求書", "🙂", "{", "}"),
    ]
)
TEXTS = st.lists(PARTS | st.text(max_size=4), max_size=14).map("".join)


@given(raw=TEXTS, cuts=st.lists(st.integers(0, 120), max_size=12))
def test_a_stream_gives_the_same_text_as_the_whole_however_it_is_split(raw: str, cuts: list[int]) -> None:
    cleaner = StreamCleaner()
    bounds = [0, *sorted(min(cut, len(raw)) for cut in cuts), len(raw)]
    returned = [cleaner.feed(raw[a:b]) for a, b in pairwise(bounds)]
    returned.append(cleaner.finish())
    whole = clean(raw)
    assert cleaner.text == whole.text
    assert cleaner.unfinished_thinking == whole.unfinished_thinking
    assert cleaner.retracted or "".join(returned) == whole.text


@given(raw=TEXTS)
def test_a_stream_split_into_single_characters_gives_the_same_text(raw: str) -> None:
    cleaner = StreamCleaner()
    returned = "".join(map(cleaner.feed, raw)) + cleaner.finish()
    assert cleaner.text == clean(raw).text
    assert cleaner.retracted or returned == cleaner.text


def test_a_stream_says_when_what_it_returned_was_reasoning() -> None:
    cleaner = StreamCleaner()
    shown = cleaner.feed("The user asks. ") + cleaner.feed("</think>Oslo") + cleaner.finish()
    assert shown == "The user asks.Oslo"
    assert cleaner.retracted
    assert cleaner.text == "Oslo"


def test_a_stream_shows_words_as_they_come() -> None:
    cleaner = StreamCleaner()
    assert [cleaner.feed(piece) for piece in ["Three", " months", ", ", "as §4", " says."]] == [
        *("Three", " months", ",", " as §4", " says.")
    ]


def test_a_stream_that_begins_a_new_turn_says_that_it_has_ended() -> None:
    cleaner = StreamCleaner()
    for piece in ["Oslo.", "\nUs", "er", ": next", " question"]:
        cleaner.feed(piece)
    assert cleaner.ended
    assert cleaner.text == "Oslo."
