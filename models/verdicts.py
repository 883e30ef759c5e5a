"""Reading yes or no off a model's reply: from the probabilities of its first token, or from its words."""

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

VERDICT_TOKENS = 512
"""Room for the reply in words: one word needs none of it, but a model may reason first."""


def plain(word: str) -> str:
    """`word` in lower case, without accents and what is not a letter."""
    letters = unicodedata.normalize("NFKD", word).casefold()
    return "".join(letter for letter in letters if letter.isalpha())


def spellings(word: str) -> list[str]:
    """How a reply may begin with `word`: in any case, with or without accents and a space before it."""
    bare = [word, "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c))]
    cased = [form for text in bare for form in (text, text.capitalize(), text.upper())]
    return list(dict.fromkeys(form for text in cased for form in (text, f" {text}")))


def said(text: str, yes: str, no: str) -> float | None:
    """1.0 for a reply that begins with `yes`, or else holds it and not `no`; 0.0 the other way round; else None."""
    words = [plain(word) for word in re.findall(r"[^\W\d_]+", text)]
    verdicts = [plain(yes), plain(no)]
    found = [word for word in words if word in verdicts]
    if words[:1] == found[:1] or len(set(found)) == 1:
        return float(found[0] == verdicts[0]) if found else None
    return None


def share(tokens: Iterable[tuple[str, float]], yes: str, no: str) -> float | None:
    """The share of yes among the tokens (with their log probabilities) that say yes or no; None when none do."""
    weights = {plain(yes): 0.0, plain(no): 0.0}
    for token, logprob in tokens:
        if plain(token) in weights:
            weights[plain(token)] += math.exp(logprob)
    total = sum(weights.values())
    return weights[plain(yes)] / total if total else None


def masses(logits: "NDArray[np.float32]", choices: Sequence[Iterable[int]]) -> list[float]:
    """The probability of each group of tokens by the logits of the vocabulary; a token in two groups does not count."""
    import numpy as np

    exponents = np.exp(logits - logits.max())
    groups = [set(choice) for choice in choices]
    shared = {token for at, group in enumerate(groups) for other in groups[at + 1 :] for token in group & other}
    return [float(sum(exponents[token] for token in group - shared) / exponents.sum()) for group in groups]
