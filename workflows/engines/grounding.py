"""Whether a rewrite says only what was said: its names, numbers and content words come from the conversation."""

import re

from condensery.retrieval.tokenize import terms

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_NAME = re.compile(r"(?<=[\w,;:)] )[A-ZÄÖÜÀÉÈÌÒÙ][\w'-]+")

MOST_NEW_TERMS = 0.34
"""A rewrite may bring in this share of new content terms ("length" for "how long"), never a new name or number."""


def is_grounded(rewrite: str, conversation: str) -> bool:
    """Whether every number and name of `rewrite`, and most of its content terms, occur in `conversation`."""
    said = conversation.casefold()
    if not set(_NUMBER.findall(rewrite)) <= set(_NUMBER.findall(conversation)):
        return False
    known = set(terms(conversation))
    if any(name.casefold() not in said and not set(terms(name)) <= known for name in _NAME.findall(rewrite)):
        return False
    content = set(terms(rewrite))
    return not content or len(content - known) <= MOST_NEW_TERMS * len(content)
