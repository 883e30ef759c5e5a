"""Which retrieval methods compose, and what is said about those that do not."""

import pytest

from condensery.errors import ConfigError, UnknownName
from condensery.retrieval.plans import METHOD_NAMES, RULES, SHORT_NAMES, Plan, misnamed, plan_for
from condensery.settings import Settings, load_settings

DEFAULTS = Settings()


@pytest.mark.parametrize("name", METHOD_NAMES)
def test_a_full_path_is_the_name_of_its_plan(name: str) -> None:
    assert plan_for(name, DEFAULTS).name == name
    assert misnamed(name) is None


@pytest.mark.parametrize(
    ("name", "plan"),
    [
        ("hyde", Plan("semantic", hyde=True)),
        ("reranked", Plan("semantic", hyde=True, reranked=True)),
        ("reranked/hyde", Plan("semantic", hyde=True, reranked=True)),
        ("reranked/bm25", Plan("bm25", reranked=True)),
        ("hyde/hybrid", Plan("hybrid", hyde=True)),
    ],
)
def test_a_short_path_takes_its_base_from_the_settings(name: str, plan: Plan) -> None:
    settings = load_settings(hyde={"base": "semantic"}, rerank={"base": "hyde"})
    assert plan_for(name, settings) == plan


def test_without_anything_set_both_stages_work_on_hybrid() -> None:
    assert [plan_for(name, DEFAULTS).name for name in SHORT_NAMES] == [
        "hyde/hybrid",
        "reranked/hybrid",
        "reranked/hyde/hybrid",
    ]


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("hyde/bm25", RULES["hyde"]),
        ("hyde/hyde", RULES["hyde"]),
        ("hyde/reranked", RULES["hyde"]),
        ("hyde/reranked/hybrid", RULES["hyde"]),
        ("reranked/hyde/bm25", RULES["hyde"]),
        ("reranked/reranked", RULES["reranked"]),
        ("reranked/reranked/bm25", RULES["reranked"]),
        ("semantic/bm25", "semantic searches by itself and takes no base"),
        ("hybrid/hyde", "hybrid searches by itself and takes no base"),
    ],
)
def test_parts_that_do_not_go_together_are_refused_with_the_rule(name: str, rule: str) -> None:
    with pytest.raises(ConfigError) as caught:
        plan_for(name, DEFAULTS)
    assert not isinstance(caught.value, UnknownName)
    assert rule in str(caught.value)
    with pytest.raises(ConfigError) as caught:
        load_settings(retrieval={"method": name})
    assert rule in str(caught.value)


@pytest.mark.parametrize("name", ["bm52", "", "/", "hyde/", "hyde//hybrid", "reranked/bm52", "Hybrid", "hyde hybrid"])
def test_an_unknown_part_is_refused_with_the_choices(name: str) -> None:
    with pytest.raises(UnknownName) as caught:
        plan_for(name, DEFAULTS)
    assert caught.value.choices == sorted([*METHOD_NAMES, *SHORT_NAMES])
    assert all(choice in str(caught.value) for choice in caught.value.choices)
    with pytest.raises(ConfigError, match=r"must be 'semantic', 'bm25', .* or 'reranked/hyde/hybrid'"):
        load_settings(retrieval={"method": name})


@pytest.mark.parametrize("name", ["hyde/" * 3000 + "semantic", "hybrid" * 3000])
def test_an_endless_name_is_not_repeated_in_full(name: str) -> None:
    with pytest.raises(ConfigError) as asked:
        plan_for(name, DEFAULTS)
    with pytest.raises(ConfigError) as loaded:
        load_settings(retrieval={"method": name})
    assert max(len(str(asked.value)), len(str(loaded.value))) < 1000


@pytest.mark.parametrize(
    ("section", "base", "rule"),
    [
        ("hyde", "bm25", RULES["hyde"]),
        ("hyde", "hyde", RULES["hyde"]),
        ("hyde", "reranked", RULES["hyde"]),
        ("rerank", "reranked", RULES["reranked"]),
        ("rerank", "reranked/bm25", RULES["reranked"]),
    ],
)
def test_a_base_that_its_stage_cannot_have_is_refused_when_settings_load(section: str, base: str, rule: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_settings(**{section: {"base": base}})
    assert rule in str(caught.value)
    assert f"{section}.base = '{base}' (argument)" in str(caught.value)


def test_fewer_candidates_than_are_kept_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"rerank\.candidates must be at least rerank\.top_n"):
        load_settings(rerank={"candidates": 3, "top_n": 5})
    assert load_settings(rerank={"candidates": 3}).rerank.top_n is None
