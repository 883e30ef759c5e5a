"""Which engines and methods are compared: those that were named, or all that these settings can run."""

import dataclasses
from collections.abc import Sequence

from condensery.errors import CondenseryError, ConfigError
from condensery.evals.results import Skipped
from condensery.models.chat import ChatModel
from condensery.models.pool import ModelPool
from condensery.retrieval.plans import Plan
from condensery.services import Services
from condensery.workflows.engines.base import ChatEngine
from condensery.workflows.engines.table import ENGINES
from condensery.workflows.turn import Exchange, FallbackReason

BASELINE = "simple"
"""The engine that searches for the raw message; better and worse are measured from it."""

MATRIX = ("semantic", "bm25", "hybrid", "reranked/hybrid", "hyde/semantic", "hyde/hybrid", "reranked/hyde/hybrid")
"""The ladder of retrieval: what each stage adds to the one below it."""

_ASKED = (Exchange(message="What does the annual pass cost?", answer="The annual pass costs 410 francs."),)
_FOLLOW_UP = "And what does it cost for children?"


async def engines_for(services: Services, named: Sequence[str]) -> tuple[list[str], list[Skipped]]:
    """The engines to measure, the baseline first, and those that cannot run here.

    Raises `UnknownName` for a name that is none. An engine that was named runs whatever model there is.
    """
    for name in named:
        services.engine(name)
    found: list[str] = [BASELINE]
    skipped: list[Skipped] = []
    for name in [*named] or ENGINES:
        reason = None if named or not await needs_model(services, name) else no_model(condense_model(services))
        if reason:
            skipped.append(Skipped(name=name, reason=reason))
        elif name not in found:
            found.append(name)
    return found, skipped


def methods_for(services: Services, named: Sequence[str]) -> tuple[list[str], list[Skipped]]:
    """The methods to measure by their full paths, that of the settings by default, and those that cannot run here.

    Raises `UnknownName`, or `ConfigError` for parts that do not go together.
    """
    found: list[str] = []
    skipped: list[Skipped] = []
    for plan in [services.plan(name) for name in named] or [services.plan()]:
        try:
            services.check(plan)
            if reason := unfit(services, plan):
                raise ConfigError(reason)
        except CondenseryError as error:
            skipped.append(Skipped(name=plan.name, reason=str(error)))
        else:
            found.append(plan.name)
    return list(dict.fromkeys(found)), skipped


def unfit(services: Services, plan: Plan) -> str | None:
    """Why the settings' models are none to judge this plan by; None when they are."""
    rerank = services.settings.rerank
    reason = no_model(services.hyde_model()) if plan.hyde else None
    if plan.reranked and rerank.reranker == "llm":
        reason = reason or no_model(services.model_for(rerank.llm, rerank.api_key))
    return reason


def condense_model(services: Services) -> ChatModel | None:
    """The model that chat engines are given."""
    condense = services.settings.condense
    return services.model_for(condense.model, condense.api_key)


def no_model(model: ChatModel | None) -> str | None:
    """Why `model` is none to judge a stage by; None when it is one."""
    if model is None:
        return "it needs a model; set llm.model"
    if not model.capable:
        return f"it needs a capable model; {model.name}, which is bundled, only proves the wiring: set llm.model"
    return None


async def needs_model(services: Services, name: str) -> bool:
    """Whether an engine says of a follow-up that it can do nothing for want of a model."""
    engine = without_model(services, name)
    return (await engine.prepare(_FOLLOW_UP, _ASKED)).reason is FallbackReason.NO_MODEL


def without_model(services: Services, name: str) -> ChatEngine:
    """The engine as it is where there is no model."""
    settings = services.settings.model_copy(
        update={"llm": services.settings.llm.model_copy(update={"model": "none"}),
                "condense": services.settings.condense.model_copy(update={"model": ""})}
    )  # fmt: skip
    bare = dataclasses.replace(services, settings=settings, model=None, models=ModelPool(settings.llm, None))
    return bare.engine(name)
