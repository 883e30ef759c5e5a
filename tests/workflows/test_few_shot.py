import numpy as np
import pytest

from condensery.workflows.few_shot import Example, nearest_examples, ruling
from condensery.workflows.labelling import label_in, label_schema

EXAMPLES = [Example(label=label, text=text) for label, text in [("a", "a1"), ("a", "a2"), ("b", "b1"), ("b", "b2")]]
VECTORS = np.array([[1, 0], [0.8, 0.6], [0, 1], [-0.6, 0.8]], dtype=np.float32)


def test_the_label_is_that_of_the_nearest_examples_and_they_are_told() -> None:
    found = ruling([1, 0], EXAMPLES, VECTORS, neighbours=2)
    assert found.label == "a"
    assert [(each.text, each.similarity) for each in found.neighbours] == [("a1", 1.0), ("a2", 0.8)]
    assert found.scores == pytest.approx({"a": 0.9, "b": -0.3})
    assert found.margin == pytest.approx(1.2)
    assert found.clear(1.1)
    assert not found.clear(1.3)


def test_many_examples_of_a_label_are_no_advantage() -> None:
    crowd = [*EXAMPLES, *(Example(label="b", text=f"b{number}") for number in range(3, 30))]
    vectors = np.vstack([VECTORS, np.tile([0.6, 0.8], (27, 1))]).astype(np.float32)
    assert ruling([1, 0], crowd, vectors, neighbours=2).label == "a"


def test_confidences_are_shares_and_fall_as_labels_come_closer() -> None:
    far = ruling([1, 0], EXAMPLES, VECTORS, neighbours=1)
    near = ruling([0.72, 0.694], EXAMPLES, VECTORS, neighbours=1)
    for found in (far, near):
        assert sum(found.confidences.values()) == pytest.approx(1)
        assert found.confidence == max(found.confidences.values()) == found.confidences[found.label]
    assert 0.5 < near.confidence < far.confidence


def test_one_label_alone_is_certain_and_none_is_an_error() -> None:
    only = ruling([0, 1], EXAMPLES[:2], VECTORS[:2], neighbours=5)
    assert (only.label, only.confidence) == ("a", 1.0)
    with pytest.raises(ValueError, match="no examples"):
        ruling([0, 1], [], VECTORS[:0], neighbours=5)


def test_the_nearest_examples_come_in_order_whatever_their_label() -> None:
    assert [each.text for each in nearest_examples([0.8, 0.6], EXAMPLES, VECTORS, most=3)] == ["a2", "a1", "b1"]


def test_a_reply_names_one_of_the_labels_in_whatever_case() -> None:
    assert label_schema(["Fares", "jobs"])["properties"]["label"]["enum"] == ["Fares", "jobs"]
    assert label_in('{"label": "Fares"}', ["Fares", "jobs"]) == "Fares"
    assert label_in('{"label": " fares ", "why": "x"}', ["Fares", "jobs"]) == "Fares"
    assert label_in('{"label": "a"}', ["A", "a"]) == "a"


@pytest.mark.parametrize("reply", ["", "Fares", '{"label": "weather"}', '{"label": 3}', "[]", '{"label": "FARES"}'])
def test_a_reply_that_names_no_label_is_an_error(reply: str) -> None:
    with pytest.raises(ValueError, match=r"label|JSON|object"):
        label_in(reply, ["Fares", "fares"])
