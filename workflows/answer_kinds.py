"""What kind of thing a question asks for, and whether a sentence holds one. By words of four languages, no model."""

import re

_FLAGS = re.IGNORECASE

_NUMBER = r"\b\d[\d.,:'’ ]*|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|hundred|thousand)\b"
_UNIT = (
    r"(?:\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|hundred))[\d.,' ]*[ -]?"
    r"(?:minutes?|hours?|days?|weeks?|months?|years?|seconds?|metres?|meters?|kilometres?|km|m|cm|mm|miles?|feet)\b"
)
_MONEY = r"[$€£]\s?\d|\d[\d.,'’ ]*\s?(?:francs?|euros?|dollars?|CHF|EUR|USD|pounds?|per cent|%)|\b\d+\.\d{2}\b"
_DATE = (
    r"\b(?:1[5-9]|20)\d\d\b|\b\d{1,2}[:.]\d{2}\b|\b(?:january|february|march|april|may|june|july|august|september|october"
    r"|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|daily|o'clock|noon|midnight)s?\b"
)
_NAME = r"(?<=[a-z,;:(] )[A-ZÄÖÜ][\w'-]+"
_REASON = r"\b(?:because|since|due to|so that|caused|cause|reason|therefore|to avoid|in order to|weil|parce|perché)\b"

_ASKS = {
    _MONEY: r"how much|price|cost|fee|fare|wie ?viel|combien|quanto",
    _UNIT: r"how (?:long|far|high|tall|deep|wide)|wie (?:lange|lang|weit|hoch)",
    _NUMBER: r"how (?:many|old|often|fast|heavy|big|large|steep|much)|wie (?:viele|oft|alt|schnell)",
    _DATE: r"when|what times?|which (?:day|month|year|date)|what (?:day|month|year|date)|wann|quand|quando",
    _NAME: r"who|whom|whose|wer|wem|wen|qui|chi",
    _REASON: r"why|how come|warum|wieso|pourquoi|perché",
}

KINDS: list[tuple[re.Pattern[str], re.Pattern[str]]] = [
    (re.compile(rf"\b(?:{asks})\b", _FLAGS), re.compile(holds, 0 if holds == _NAME else _FLAGS))
    for holds, asks in _ASKS.items()
]
"""What is asked, and what an answer to it holds."""

BONUS = 0.15


def kind_bonus(question: str, sentence: str) -> float:
    """`BONUS` when `sentence` holds the kind of thing that `question` asks for last, else 0."""
    asked = [(match.start(), holds) for asks, holds in KINDS for match in asks.finditer(question)]
    if not asked:
        return 0.0
    return BONUS if max(asked, key=lambda found: found[0])[1].search(sentence) else 0.0
