from condensery.prompts.loader import prompts_for
from condensery.settings import Settings
from condensery.ui.choices import Choices, known
from condensery.ui.starters import EXAMPLES, questions_for


def test_the_settings_decide_until_something_is_chosen() -> None:
    settings = Settings.model_validate({"condense": {"engine": "simple"}, "retrieval": {"method": "bm25"}})
    assert Choices.of({}, settings) == Choices(engine="simple", method="bm25")
    assert Choices.of({"method": "semantic"}, settings) == Choices(engine="simple", method="semantic")


def test_a_choice_that_no_longer_exists_counts_as_none() -> None:
    assert known({"engine": "of an older version", "method": "hybrid", "other": "x"}) == {"method": "hybrid"}


def test_the_panel_offers_every_engine_and_method() -> None:
    engine, method = (widget.to_dict() for widget in Choices("simple", "bm25").widgets(prompts_for("en")))
    assert engine["initial"] == "simple"
    assert {item["value"] for item in engine["items"]} >= {"simple", "condense_context", "expand_context"}
    assert {item["value"] for item in method["items"]} >= {"semantic", "bm25", "hybrid"}


def test_sample_questions_are_offered_for_the_examples_only() -> None:
    sources = [f"/home/docs/{name}" for name in EXAMPLES]
    assert questions_for([*sources, "/home/docs/more.txt"]) == list(EXAMPLES.values())
    assert questions_for(sources[:-1]) == []
    assert questions_for([]) == []
