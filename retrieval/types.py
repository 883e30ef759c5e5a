"""What retrieval hands on: chunks, how they were found, and what a search is narrowed to."""

from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field


class Frozen(BaseModel):
    """An immutable value that refuses unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Chunk(Frozen):
    """A passage of one document; `start` and `end` are character offsets into that document's extracted text."""

    id: str
    text: str
    source: str = Field(description="Path or name the document was ingested under.")
    title: str = ""
    heading: str = ""
    namespace: str = "default"
    page: int | None = Field(None, description="1-based page, where the format has pages.")
    start: int = 0
    end: int = 0
    metadata: dict[str, str] = Field(default_factory=dict, description="What else a filter may match: author, format …")

    def __repr__(self) -> str:
        """Short: the workflow engine renders what events carry, at every step."""
        return f"Chunk({self.id!r}, source={self.source!r})"


class Placement(Frozen):
    """Where one stage placed a chunk: 1-based rank and that stage's own score (higher is better)."""

    rank: int
    score: float


class Trace(Frozen):
    """How a chunk came to its place: by arm (`semantic`, `bm25`), then fused, reranked, and final among the results."""

    arms: dict[str, Placement] = Field(default_factory=dict)
    fused: Placement | None = None
    reranked: Placement | None = None
    final: Placement | None = None


class ScoredChunk(Frozen):
    """One search result; `score` is comparable within one result list only."""

    chunk: Chunk
    score: float
    trace: Trace = Trace()

    def __repr__(self) -> str:
        """Short, as that of its chunk."""
        return f"ScoredChunk({self.chunk.id!r}, score={self.score})"


class Scope(Frozen):
    """What a search may return. Empty `namespaces`: all of them. `filters`: metadata key → exact string value."""

    namespaces: tuple[str, ...] = ()
    filters: dict[str, str] = Field(default_factory=dict)


class Probe(Frozen):
    """One text of a search that weighs several: what it counts in the dense and in the lexical arm."""

    text: str
    dense: float = Field(1.0, ge=0)
    lexical: float = Field(1.0, ge=0)
    told: bool = Field(False, description="Whether it may hold words of an earlier answer, which the person knows.")


class SearchQuery(Frozen):
    """What to search for: `text`, or in its place the weighed sum of `probes`, which say more than one text can.

    `passage`, when given, is embedded in document mode in place of whatever else the dense arm would embed.
    """

    text: str
    passage: str | None = None
    probes: tuple[Probe, ...] = ()

    @property
    def weighed(self) -> tuple[Probe, ...]:
        """The texts to search with: the probes, or the text alone."""
        return self.probes or (Probe(text=self.text),)


class Retriever(Protocol):
    """One way to search: results best first, at most `limit`, none outside `scope`, never a zero-score hit."""

    async def search(self, query: SearchQuery, *, scope: Scope, limit: int) -> list[ScoredChunk]: ...
