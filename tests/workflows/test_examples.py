from pathlib import Path

import pytest

from condensery.errors import ConfigError
from condensery.testing import RecordingEmbedder
from condensery.workflows.examples import LONGEST_EXAMPLE, ExampleIndex, read_examples
from condensery.workflows.few_shot import Example

TOML = 'accept = ["How long is\\n the track?", "How steep is it?"]\nreject = ["Tell me a joke."]\n'
JSONL = '{"label": "accept", "text": "How long is the track?"}\n\n{"label": "reject", "text": "Tell me a joke."}\n'


def written(folder: Path, text: str, suffix: str = ".toml") -> Path:
    path = folder / f"examples{suffix}"
    path.write_text(text, encoding="utf-8")
    return path


def test_examples_are_read_from_toml_and_from_json_lines(tmp_path: Path) -> None:
    pairs = [(each.label, each.text) for each in read_examples(written(tmp_path, TOML), ("accept", "reject"))]
    assert pairs == [
        ("accept", "How long is the track?"),
        ("accept", "How steep is it?"),
        ("reject", "Tell me a joke."),
    ]
    assert len(read_examples(written(tmp_path, JSONL, ".jsonl"))) == 2


@pytest.mark.parametrize(
    ("text", "suffix", "complaint"),
    [
        ("accept = [", ".toml", "examples.toml: "),
        ("accept = 'no list'", ".toml", "'accept' must be a list of texts"),
        ("accept = [1]", ".toml", "'accept' must be a list of texts"),
        ("accept = ['x']\nreject = ['  ']", ".toml", "an example has a label and 1 to"),
        (f"accept = ['x']\nreject = ['{'y' * (LONGEST_EXAMPLE + 1)}']", ".toml", "an example has a label and 1 to"),
        ("accept = ['x']\nreject = ['x']", ".toml", "'x' is an example of both 'accept' and 'reject'"),
        ("accept = ['x']", ".toml", "needed of accept, reject, and of nothing else; got accept"),
        ("accept = ['x']\nrejects = ['y']", ".toml", "needed of accept, reject, .* got accept, rejects"),
        ("", ".jsonl", "got nothing"),
        ("{}\n", ".jsonl", 'line 1 must be {"label"'),
        ('{"label": "accept", "text": "x"}\nnonsense', ".jsonl", "line 2 is not JSON"),
        ("", ".csv", "end in .toml or .jsonl"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_the_place(
    tmp_path: Path, text: str, suffix: str, complaint: str
) -> None:
    with pytest.raises(ConfigError, match=complaint):
        read_examples(written(tmp_path, text, suffix), ("accept", "reject"))


def test_a_file_that_is_not_there_or_is_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none.toml: the examples cannot be read"):
        read_examples(tmp_path / "none.toml")
    (tmp_path / "odd.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match=r"odd.toml: .*utf-8"):
        read_examples(tmp_path / "odd.toml")


async def test_examples_are_embedded_once_and_only_when_they_are_needed() -> None:
    embedder = RecordingEmbedder()
    index = ExampleIndex([Example(label="a", text="one"), Example(label="b", text="two")], embedder)
    assert embedder.texts == []
    assert (await index.rule("one", neighbours=1)).label == "a"
    assert (await index.rule("two", neighbours=1)).label == "b"
    assert embedder.texts == ["one", "two", "one", "two"]
    assert index.labels == ["a", "b"]
