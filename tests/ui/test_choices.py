from typing import Any

from condensery.prompts.loader import prompts_for
from condensery.retrieval.plans import METHOD_NAMES
from condensery.settings import Settings
from condensery.settings_runtime import changeable
from condensery.ui.choices import AS_SET, Choices, changed, known, panel
from condensery.ui.starters import EXAMPLES, questions_for
from condensery.workflows.engines.table import ENGINES


def inputs(tab: int, **sections: Any) -> dict[str, Any]:
    """The widgets of a tab of the panel, by id."""
    settings = Settings.model_validate(sections)
    return {each["id"]: each for each in panel({}, prompts_for("en"), settings)[tab].to_dict()["inputs"]}


def test_the_settings_decide_until_something_is_chosen() -> None:
    assert Choices.of({}) == Choices.of({"engine": AS_SET, "method": AS_SET}) == Choices(None, None)
    assert Choices.of({"method": "semantic", "engine": AS_SET}) == Choices(engine=None, method="semantic")


def test_a_choice_that_no_longer_exists_counts_as_none() -> None:
    assert known({"engine": "of an older version", "method": "hybrid", "other": "x"}) == {"method": "hybrid"}


def test_the_panel_offers_every_engine_and_method_and_to_follow_the_settings() -> None:
    chat = inputs(0, condense={"engine": "simple"}, retrieval={"method": "hyde"})
    for name, table in {"engine": ENGINES, "method": METHOD_NAMES}.items():
        assert [item["value"] for item in chat[name]["items"]] == [AS_SET, *table]
        assert chat[name]["initial"] == AS_SET
    assert chat["engine"]["items"][0]["label"] == "As set for all chats (simple)"
    assert chat["method"]["items"][0]["label"] == "As set for all chats (hyde/hybrid)"


def test_the_panel_shows_what_was_chosen_for_the_chat() -> None:
    chosen = Choices.of({"method": "bm25"}).widgets(prompts_for("en"), Settings(), ["hybrid"])
    assert [widget.initial for widget in chosen] == [AS_SET, "bm25"]
    assert [item["value"] for item in chosen[1].to_dict()["items"]] == [AS_SET, "hybrid", "bm25"]


def test_the_panel_offers_every_setting_that_can_be_changed_with_its_value() -> None:
    shared = inputs(1, retrieval={"top_k": 7}, condense={"enabled": False})
    assert [each["label"] for each in shared.values()] == changeable()
    assert not any("." in id_ for id_ in shared), "the page would nest such values"
    top_k, enabled, mode = (shared[name] for name in ("retrieval__top_k", "condense__enabled", "answer__mode"))
    assert (top_k["type"], top_k["initial"]) == ("numberinput", 7)
    assert (enabled["type"], enabled["initial"]) == ("switch", False)
    assert [item["value"] for item in mode["items"]] == ["auto", "generated", "extractive"]


def test_only_what_differs_from_what_was_shown_is_changed() -> None:
    settings = Settings()
    values = {id_: each["initial"] for id_, each in inputs(1).items()}
    assert changed(values, settings) == {}
    same = {"retrieval__top_k": "5", "retrieval__min_similarity": 0.2, "rerank__top_n": "", "engine": "simple"}
    assert changed(values | same, settings) == {}
    new = {"retrieval__top_k": "x", "retrieval__rrf_k": 61, "gate__enabled": False, "rerank__top_n": 3}
    assert changed(values | new, settings) == {
        "retrieval.top_k": "x",
        "retrieval.rrf_k": 61,
        "gate.enabled": False,
        "rerank.top_n": 3,
    }


def test_sample_questions_are_offered_for_the_examples_only() -> None:
    sources = [f"/home/docs/{name}" for name in EXAMPLES]
    assert questions_for([*sources, "/home/docs/more.txt"]) == list(EXAMPLES.values())
    assert questions_for(sources[:-1]) == []
    assert questions_for([]) == []
