"""Single facts that were forgotten: told again from digests, without keeping their words."""

import hashlib
import json
from collections.abc import Set as AbstractSet

from condensery.memory.merging import sayings
from condensery.memory.types import NewFact


def digests_of(user_id: str, fact: NewFact) -> frozenset[str]:
    """Digests of what a user's fact says, one for each way of telling that another says the same."""
    whole = (json.dumps([user_id, said]) for said in sayings(fact))
    return frozenset(hashlib.sha256(each.encode("utf-8", "surrogatepass")).hexdigest() for each in whole)


def is_among(fact: NewFact, user_id: str, digests: AbstractSet[str]) -> bool:
    """Whether one of the facts behind `digests` says what `fact` says."""
    return bool(digests) and not digests.isdisjoint(digests_of(user_id, fact))
