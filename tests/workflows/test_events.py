import pytest
from llama_index.core.workflow import JsonSerializer

from condensery.workflows.events import CondensedQuestion, SearchRequest
from condensery.workflows.turn import TurnKey

KEY = TurnKey(turn_id="t", conversation_id="c")


def question(text: str = "How long is the track?", max_chars: int = 512) -> CondensedQuestion:
    return CondensedQuestion(key=KEY, question=text, max_chars=max_chars, engine="simple", condensed=False)


def test_an_event_refuses_a_field_it_does_not_declare() -> None:
    with pytest.raises(TypeError, match="SearchRequest has no field qeury"):
        SearchRequest(question=question(), query="x", qeury="y")


@pytest.mark.parametrize("blank", ["", " ", "\n\t", "\u00a0", "\u200b", "\ufeff"])
def test_a_condensed_question_is_never_blank(blank: str) -> None:
    with pytest.raises(ValueError, match="blank"):
        question(blank)


def test_a_condensed_question_is_never_long() -> None:
    assert question("x" * 512).question == "x" * 512
    with pytest.raises(ValueError, match="513 characters"):
        question("x" * 513)


def test_a_replayed_event_is_checked_too() -> None:
    kept = JsonSerializer().serialize(question())
    assert JsonSerializer().deserialize(kept).question == "How long is the track?"
    with pytest.raises(ValueError, match="characters"):
        JsonSerializer().deserialize(kept.replace("How long is the track?", "x" * 600))
