"""Judges rankings: which results hold what a turn wants, and how good that makes them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from condensery.app import App
from condensery.errors import ConfigError
from condensery.evals.data import Case, Data, Wanted
from condensery.evals.folders import place_of
from condensery.evals.metrics import Ranks, fact_rank, hit, ideal_ranks, ndcg, recall, reciprocal_rank
from condensery.retrieval.types import Chunk, ScoredChunk

MOST_NAMED = 5


@dataclass(frozen=True)
class Judge:
    """What counts as one result, and which results hold what is wanted.

    Of passages, the best of a passage's chunks stands for it; of a conversation's corpus, every chunk is a result.
    """

    by_passage: bool
    holders: dict[Wanted, frozenset[str]]
    warnings: tuple[str, ...] = ()

    @property
    def score(self) -> str:
        """The metric by which a turn counts as found better or worse."""
        return "ndcg@10" if self.by_passage else "fact_rank"

    def ranks(self, case: Case, chunks: Sequence[ScoredChunk]) -> list[int | None]:
        """The rank of the first result that holds it, for each thing that `case` wants."""
        results = list(dict.fromkeys(self._result(found.chunk) for found in chunks))
        place = {name: rank for rank, name in enumerate(results, start=1)}
        return [
            min((place[name] for name in self.holders[wanted] if name in place), default=None) for wanted in case.wanted
        ]

    def metrics(self, case: Case, ranks: Ranks) -> dict[str, float]:
        """Every measure of one turn."""
        ideal = ideal_ranks([self.holders[wanted] for wanted in case.wanted])
        return {
            **{f"recall@{k}": recall(ranks, k) for k in (1, 3, 5)},
            "ndcg@10": ndcg(ranks, ideal),
            "hit@1": hit(ranks),
            "mrr": reciprocal_rank(ranks),
            "fact_rank": fact_rank(ranks),
        }

    def _result(self, chunk: Chunk) -> str:
        return chunk.source if self.by_passage else chunk.id


async def judge_for(data: Data, app: App, *, missing_too: bool = False) -> Judge:
    """The judge of `data`, which `app` has in its index.

    Raises ConfigError for a fact that no document of its name holds, unless `missing_too`: it then counts as never
    found. So does one that lies across the border of two chunks; there is a warning for each.
    """
    if data.corpus is None:
        wanted = {each for case in data.cases for each in case.wanted}
        return Judge(by_passage=True, holders={each: frozenset({each.source}) for each in wanted})
    corpus = Corpus(await app.services.documents.all_chunks())
    holders: dict[Wanted, frozenset[str]] = {}
    faults: list[str] = []
    warnings: list[str] = []
    for case in data.cases:
        for each in case.wanted:
            if each in holders:
                continue
            holders[each] = corpus.holding(each)
            if not holders[each]:
                place = f"{place_of(case, each.fact or each.source)}: "
                (warnings if corpus.across(each) else faults).append(place + corpus.reason(each))
    if faults and not missing_too:
        more = [f"and {len(faults) - MOST_NAMED} more"] if len(faults) > MOST_NAMED else []
        raise ConfigError("\n".join([*faults[:MOST_NAMED], *more]))
    return Judge(by_passage=False, holders=holders, warnings=(*faults, *warnings))


class Corpus:
    """The chunks of an index by the names of their sources."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self._by_source: dict[str, list[tuple[str, str]]] = {}
        for chunk in sorted(chunks, key=lambda chunk: (chunk.source, chunk.start)):
            self._by_source.setdefault(chunk.source, []).append((chunk.id, on_one_line(chunk.text)))

    def holding(self, wanted: Wanted) -> frozenset[str]:
        """The ids of the chunks of that source that contain the fact, white space collapsed."""
        fact = on_one_line(wanted.fact or "")
        return frozenset(id_ for id_, text in self._chunks(wanted.source) if fact in text)

    def across(self, wanted: Wanted) -> bool:
        """Whether the fact is there, but in no chunk as a whole: its words are those of two that follow each other."""
        words = on_one_line(wanted.fact or "").split()
        texts = [text for _, text in self._chunks(wanted.source)]
        return any(
            first.endswith(" ".join(words[:cut])) and " ".join(words[cut:]) in second
            for first, second in pairwise(texts)
            for cut in range(1, len(words))
        )

    def reason(self, wanted: Wanted) -> str:
        """Why the fact is in no chunk."""
        if not self._chunks(wanted.source):
            return f"the corpus has no file '{wanted.source}'; it has {', '.join(sorted(self._by_source))}"
        if self.across(wanted):
            return f"the fact '{wanted.fact}' lies across two chunks of {wanted.source} and counts as never found"
        elsewhere = [
            name for name in self._by_source if name != wanted.source and self.holding(Wanted(name, wanted.fact))
        ]
        hint = f"; {elsewhere[0]} has it" if elsewhere else "; write it as the document does, white space aside"
        return f"{wanted.source} does not hold the fact '{wanted.fact}'{hint}"

    def _chunks(self, source: str) -> list[tuple[str, str]]:
        """Those of the source of that name, or of the only one that is so called in any folder of the corpus."""
        if source in self._by_source:
            return self._by_source[source]
        named = [name for name in self._by_source if name.rpartition("/")[2] == source]
        return self._by_source[named[0]] if len(named) == 1 else []


def on_one_line(text: str) -> str:
    """`text` with its white space collapsed."""
    return " ".join(text.split())
