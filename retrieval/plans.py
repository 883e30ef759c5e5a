"""How retrieval methods compose: a name is a path such as `reranked/hyde/semantic`, outermost first.

A search has a base; a hypothetical passage may stand in for its question, and a reranker may judge what it finds.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from condensery.errors import ConfigError, UnknownName, abridged

if TYPE_CHECKING:
    from condensery.settings import Settings

BASES = ("semantic", "bm25", "hybrid")
"""The methods that search by themselves; the table METHODS holds the same names."""

HYDE, RERANKED = "hyde", "reranked"
HYDE_BASES = ("semantic", "hybrid")

_HYDE_PATHS = tuple(f"{HYDE}/{base}" for base in HYDE_BASES)
METHOD_NAMES: tuple[str, ...] = (
    *BASES,
    *_HYDE_PATHS,
    *(f"{RERANKED}/{base}" for base in (*BASES, *_HYDE_PATHS)),
)
"""Every method by its full path."""

SHORT_NAMES: tuple[str, ...] = (HYDE, RERANKED, f"{RERANKED}/{HYDE}")
"""Paths whose base is that of the settings: `hyde.base`, `rerank.base`."""

RULES = {
    HYDE: (
        "the base of hyde (hyde.base) is semantic or hybrid: a hypothetical passage stands in for the question's "
        "vector, and only these have one"
    ),
    RERANKED: "the base of reranked (rerank.base) is any method but reranked: judging twice would change nothing",
}


@dataclass(frozen=True)
class Plan:
    """What a method does: search with `base`, with a hypothetical passage or not, then rerank or not."""

    base: str
    hyde: bool = False
    reranked: bool = False

    @property
    def name(self) -> str:
        """The full path."""
        return "/".join([*[RERANKED] * self.reranked, *[HYDE] * self.hyde, self.base])


def plan_for(name: str, settings: "Settings") -> Plan:
    """The plan of the method called `name`, a full path or a short one.

    Raises `UnknownName`, which lists the choices, for a part that is no method, and `ConfigError` with the broken rule
    for parts that do not go together.
    """
    return _plan(name, {HYDE: settings.hyde.base, RERANKED: settings.rerank.base})


def misnamed(name: str) -> str | None:
    """The rule that the path `name` breaks whatever the bases in the settings are; None for an unknown name."""
    try:
        _plan(name, {HYDE: HYDE_BASES[0], RERANKED: BASES[0]})
    except UnknownName:
        return None
    except ConfigError as error:
        return str(error)
    return None


def _plan(name: str, bases: Mapping[str, str]) -> Plan:
    if not set(name.split("/")) <= {*BASES, HYDE, RERANKED}:
        raise UnknownName("retrieval method", name, [*METHOD_NAMES, *SHORT_NAMES])
    outer, _, inner = name.partition("/")
    base = inner or bases.get(outer, "")
    if outer == RERANKED and base.partition("/")[0] != RERANKED:
        return replace(_plan(base, bases), reranked=True)
    if outer == HYDE and base in HYDE_BASES:
        return Plan(base, hyde=True)
    if outer in BASES and not inner:
        return Plan(outer)
    rule = RULES.get(outer, f"{outer} searches by itself and takes no base")
    path = "/".join(filter(None, [outer, base]))
    raise ConfigError(f"no retrieval method '{abridged(path)}': {rule}")
