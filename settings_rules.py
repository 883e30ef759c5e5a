"""What settings must be beyond a type and bounds: combinations that cannot work, paths and URLs."""

from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pydantic import SecretStr

from condensery.errors import ConfigError
from condensery.retrieval.plans import HYDE, RERANKED, misnamed, plan_for

if TYPE_CHECKING:
    from condensery.settings import Settings

SMALLEST_PROMPT = 32
SHORTEST_SECRET = 16
REWRITING = ("condense_context", "fuse_context")
"""The engines that call a model."""


def broken_rules(settings: "Settings") -> list[str]:
    """The reasons why these settings cannot work together; empty when they can."""
    rules = (*_size_rules(settings), *_model_rules(settings), *_expert_rules(settings))
    return [reason for broken, reason in rules if broken] + _broken_methods(settings)


def _broken_methods(settings: "Settings") -> list[str]:
    reasons: list[str] = []
    for name in (HYDE, RERANKED, settings.retrieval.method):
        try:
            plan_for(name, settings)
        except ConfigError as error:
            reasons.append(str(error))
    return list(dict.fromkeys(reasons))


def _size_rules(settings: "Settings") -> list[tuple[bool, str]]:
    ingest, retrieval = settings.ingest, settings.retrieval
    return [
        (
            ingest.overlap_chars * 2 > ingest.chunk_chars,
            "ingest.overlap_chars must be at most half of ingest.chunk_chars, or chunks repeat more than they add",
        ),
        (
            retrieval.semantic_weight + retrieval.bm25_weight == 0,
            "retrieval.semantic_weight and retrieval.bm25_weight are both 0: hybrid would rank nothing",
        ),
        (
            retrieval.candidates < retrieval.top_k,
            "retrieval.candidates must be at least retrieval.top_k, or fusion has too little to choose from",
        ),
        (
            settings.rerank.candidates < (settings.rerank.top_n or 0),
            "rerank.candidates must be at least rerank.top_n, or there is nothing to choose from",
        ),
    ]


def _model_rules(settings: "Settings") -> list[tuple[bool, str]]:
    llm, answer, condense, memory = settings.llm, settings.answer, settings.condense, settings.memory
    guard = settings.guard
    room = llm.context_window - llm.max_output_tokens
    rewrites = condense.enabled and condense.engine in REWRITING
    return [
        (
            room <= 0,
            "llm.max_output_tokens must be smaller than llm.context_window, or no room is left for the prompt",
        ),
        (
            0 < room < SMALLEST_PROMPT and answer.mode == "generated",
            f"llm.context_window leaves under {SMALLEST_PROMPT} tokens for the prompt after llm.max_output_tokens",
        ),
        (
            memory.enabled and memory.extraction in ("llm", "mem0") and (memory.model or llm.model) == "none",
            f"memory.extraction = {memory.extraction} needs a model; set memory.model or use memory.extraction = rules",
        ),
        (
            guard.enabled and guard.method == "llm" and (guard.model or llm.model) == "none",
            "guard.method = llm needs a model; set guard.model or use guard.method = rules",
        ),
        (
            answer.mode == "generated" and llm.model == "none",
            "answer.mode = generated needs a model; set llm.model or use answer.mode = extractive",
        ),
        (
            rewrites and (condense.model or llm.model) == "none",
            f"condense.engine = {condense.engine} needs a model; set condense.model or llm.model, or use another",
        ),
        (
            rewrites and condense.max_output_tokens >= llm.context_window,
            "condense.max_output_tokens must be smaller than llm.context_window, or the conversation has no room",
        ),
    ]


def _expert_rules(settings: "Settings") -> list[tuple[bool, str]]:
    experts = settings.experts
    secret = experts.secret.get_secret_value() if experts.secret else ""
    url = urlsplit(experts.webhook_url.strip())
    safe = url.scheme == "https" or (url.scheme == "http" and url.hostname in ("127.0.0.1", "::1", "localhost"))
    uses_webhook = experts.channel == "webhook"
    return [
        (
            uses_webhook and not (safe and url.hostname),
            "experts.channel = webhook needs experts.webhook_url: an https address, or an http one of this machine",
        ),
        (
            uses_webhook and len(secret) < SHORTEST_SECRET,
            f"experts.channel = webhook needs experts.secret, of at least {SHORTEST_SECRET} characters",
        ),
    ]


def composed(value: Any) -> Any:
    """`value` for pydantic to check; raise ValueError with the rule for methods that do not go together."""
    if isinstance(value, str) and (rule := misnamed(value)):
        raise ValueError(rule)
    return value


def home_expanded(value: Any) -> Any:
    """A path with `~` resolved; raise ValueError for a blank one, which would mean the working directory."""
    if not isinstance(value, str | Path):
        return value
    if not str(value).strip() or (isinstance(value, Path) and not value.parts):
        raise ValueError("must not be blank")
    try:
        return Path(value).expanduser()
    except RuntimeError:
        raise ValueError("names a home directory that does not exist") from None


def postgres_url(url: SecretStr) -> SecretStr:
    """Return the URL; raise ValueError, without showing it, when it is not one of Postgres."""
    scheme, found, rest = url.get_secret_value().strip().partition("://")
    if not found or not rest or scheme.partition("+")[0] not in ("postgresql", "postgres"):
        raise ValueError("must be a Postgres URL such as postgresql://user:password@host:5432/database")
    return url
