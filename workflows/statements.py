"""Whether a sentence says something about whoever wrote it. By words of four languages, no model.

This decides only what of a message stays in the standalone question; whether it is a fact is decided elsewhere.
"""

import re

LONGEST_STATEMENT = 160
"""Characters; what is longer is told, not stated."""

_FLAGS = re.IGNORECASE
_VERBS_OF_I = "am|was|live|work|have|need|prefer|like|love|use|speak|moved|study|own|drive|eat|do|don['’]?t|can"
_FIRST_PERSON = (
    rf"i['’]?(?:m|ve|d|ll)|i (?:\w+ly )?(?:{_VERBS_OF_I})|my|me|myself|mine|we|we['’]?(?:re|ve)|our|us",
    r"ich|mich|mir|mein(?:e[rnms]?)?|wir|uns|unser(?:e[rnms]?)?",
    r"je|j['’]\w+|me|moi|mon|ma|mes|nous|notre|nos",
    r"io|mi|m['’]\w+|mio|mia|miei|mie|noi|nostr[oaei]|sono|ho|vivo|abito|lavoro|preferisco|parlo|uso|mangio|studio",
)
_ROLES = r"as an? \w+,|being an? \w+,|(?:living|working) (?:in|as|at|for) |als \w+(?:in)?,? |en tant que? |come \w+, "
_COURTESIES = (
    r"(?:hi|hello|hey|hallo|guten (?:tag|morgen|abend)|bonjour|salut|ciao|buongiorno|salve|well|so|also|actually|note|"
    r"please note|by the way|btw|übrigens|au fait|comunque|tra l['’]altro)\b[\s,:!.–-]*(?:that |dass |que |che )?"
)
_I = re.compile(r"\bI\b(?!\.)")
_ANYWHERE = re.compile(rf"\b(?:{'|'.join(_FIRST_PERSON)})\b", _FLAGS)
_AT_FRONT = re.compile(rf"(?:{_COURTESIES})?(?:(?:i|{'|'.join(_FIRST_PERSON)})\b|{_ROLES})", _FLAGS)
_QUOTED = re.compile(r"[\"“”„«»>]")


def mentions_oneself(sentence: str) -> bool:
    """Whether anything in `sentence` is in the first person, whoever that may be."""
    return bool(_I.search(sentence) or _ANYWHERE.search(sentence) or _AT_FRONT.match(sentence))


def is_statement(sentence: str) -> bool:
    """Whether `sentence` is a short statement of its writer's about themselves: no question, nothing quoted."""
    plain = sentence.strip()
    if not plain or len(plain) > LONGEST_STATEMENT or plain.endswith(":") or _QUOTED.search(plain):
        return False
    return "?" not in plain and bool(_AT_FRONT.match(plain))
