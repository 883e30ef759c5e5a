"""What a message states in the first person, clause by clause: cut out, with quotes, tales and conditions left aside.

Pure. A statement is not a fact yet: `self_stated.py` says which ways of stating one are known.
"""

import re
from typing import NamedTuple

from condensery.memory.grammar import HELD, Grammar
from condensery.memory.languages import grammars_for
from condensery.memory.pieces import Piece, pieces, sentences_of, unled

LONGEST_CLAUSE = 160
"""Characters; what is longer is a tale."""
LONGEST_SENTENCE = 2000
"""Characters; nobody states a fact in a longer one."""
HIDDEN = "❝"
"""Stands for what was quoted."""
SHORTEST_SECRET = 13
"""Digits in a row, or grouped, that are more likely a card or an account than anything a person is."""
_TRAILING = re.compile(r"[\s,;:.!?…\-–—)(\U0001f300-\U0001faff☀-➿]+$|\s*:-?[)D(]$")
_DIGITS = re.compile(rf"(?:\d[ -]?){{{SHORTEST_SECRET},}}|\b[A-Z]{{2}}\d{{2}}(?: ?\w{{4}}){{3,}}")
_KEY = re.compile(r"\b(?:sk|pk|ghp|xox[a-z])[-_]\w+|\b(?=\w*\d)(?=\w*[A-Za-z])\w{20,}\b")
_REGISTERED = re.compile(r"\b(?:siret|siren|vat|uid|ust-?id\w*|partita iva|p\.? ?iva)\b", re.IGNORECASE)
"""Numbers that a business prints on its letters; they may be long."""
_OWNED = re.compile(r"(?:(?:il|la|i|le) )?\w+ [\w-]+", re.IGNORECASE)
_LONGEST_TAIL = 4


class Statement(NamedTuple):
    """A clause in the first person that stands alone, as a sentence, and the grammar it was read by.

    `refers`: it leans on something said elsewhere ("I live there").
    """

    text: str
    grammar: Grammar
    refers: bool = False


def statements(message: str) -> list[Statement]:
    """The statements of `message`, in order. Nothing of what comes after a tale or a quotation has begun."""
    found: list[Statement] = []
    for sentence in sentences_of(message):
        if len(sentence) > LONGEST_SENTENCE:
            continue
        in_each = [_in_sentence(sentence, grammar) for grammar in grammars_for(sentence, message)]
        stated, closed = max(in_each, key=lambda each: len(each[0]), default=([], False))
        if closed or any(shut for _, shut in in_each):
            return found + stated if closed else found
        found += stated
    return list(dict.fromkeys(found))


def _in_sentence(sentence: str, grammar: Grammar) -> tuple[list[Statement], bool]:
    """The statements of one sentence, and whether a tale begins in it."""
    parts = pieces(sentence, grammar)
    kept: list[Statement] = []
    before: Statement | None = None
    introduced, opened = True, False
    for at, piece in enumerate(parts):
        text, noted = unled(piece.text, grammar)
        if wish := _wish(text, grammar):
            kept, before = [*kept, wish], None
            continue
        if piece.separator == ":" and not introduced and not (opened and _leads(parts[at - 1], grammar)):
            return kept, True
        if grammar["task"].match(text) or grammar["fiction"].search(text):
            return kept, True
        if grammar["unreal"].search(text):
            break
        is_last = sentence.endswith("?") and at == len(parts) - 1
        if grammar["reported"].search(text) and not (is_last and grammar["ask"].match(text)):
            wonders = grammar["wondering"].search(text) is not None
            is_tail = at > 0 and not wonders and (grammar["reported"].match(text) or len(text.split()) <= _LONGEST_TAIL)
            return [] if is_tail else kept, at + 1 < len(parts) and parts[at + 1].separator == ":"
        opened = opened or noted or grammar["opens"].match(text) is not None
        introduced = not text or (noted and piece.separator == ":")
        if is_last and not _is_added(parts, grammar):
            return _before_question(kept, piece, text, grammar, len(parts)), False
        tailed = _tailed(before, piece, grammar)
        kept = kept[:-1] if tailed else kept
        before = tailed or _statement(text, piece, before, grammar, len(parts) > 1)
        introduced = introduced or before is not None
        kept += [before] if before else []
    return kept, False


def _wish(text: str, grammar: Grammar) -> Statement | None:
    """`text` when it says how every answer should be ("Always cite the page"), not what to do now."""
    said = _bare(grammar["polite"].sub("", _bare(text).replace(HELD, ",")))
    if (
        not grammar.standing.fullmatch(said)
        or grammar["fiction"].search(text)
        or (text.endswith("?") and not grammar["asking"].match(text))
    ):
        return None
    is_fit = HIDDEN not in said and len(said) <= LONGEST_CLAUSE and not grammar["secret"].search(said)
    return Statement(f"{said[0].upper()}{said[1:]}.", grammar) if is_fit and not _is_secret(said) else None


def _tailed(before: Statement | None, piece: Piece, grammar: Grammar) -> Statement | None:
    """`before` with a piece that only says more of the same ("…, diagnosed two years ago", "…, two shelves")."""
    text = _bare(piece.text)
    if before is None or piece.separator != "," or not grammar["tail"].fullmatch(text) or HIDDEN in text:
        return None
    if grammar.continues(before.text, piece.text):
        return None
    longer = f"{before.text.rstrip('.')}, {text}."
    is_plain = len(longer) <= LONGEST_CLAUSE and not grammar["passing_time"].search(text) and not _is_secret(longer)
    return before._replace(text=longer) if is_plain else None


def _leads(piece: Piece, grammar: Grammar) -> bool:
    """Whether `piece`, after an opening of the person's own, may go on with it up to a colon."""
    opens = grammar["opens"].match(unled(piece.text, grammar)[0]) is not None
    return opens or (piece.separator != ":" and not grammar.people.search(piece.text))


def _is_added(parts: list[Piece], grammar: Grammar) -> bool:
    """Whether a sentence asks first and states something after a comma ("What does it cost, I'm a student?")."""
    before = [unled(each.text, grammar)[0] for each in parts[:-1]]
    asks = any(grammar["ask"].match(text) and not _is_phrase(text, grammar) for text in before)
    return asks and parts[-1].separator == "," and bool(grammar["added"].match(parts[-1].text))


def _is_phrase(text: str, grammar: Grammar) -> bool:
    return any(each.pattern.fullmatch(_bare(text)) for each in grammar.rewrites)


def _before_question(kept: list[Statement], piece: Piece, text: str, grammar: Grammar, count: int) -> list[Statement]:
    """What of a sentence that ends in a question stays stated: not what the question mark is about."""
    if count == 1 or grammar["tags"].fullmatch(text.rstrip(" ?!.")):
        return kept[:-1]
    if grammar["ask"].match(text) or not kept:
        return kept
    return kept if piece.separator != "&" and len(text.split()) > 1 else kept[:-1]


def _statement(
    text: str, piece: Piece, before: Statement | None, grammar: Grammar, has_company: bool
) -> Statement | None:
    text = grammar["causes"].sub("", text, count=1).strip() if grammar["causes"].match(text) else text
    clause = _clause(text, piece, before, grammar, has_company)
    return _judged(clause, grammar) if clause else None


def _clause(text: str, piece: Piece, before: Statement | None, grammar: Grammar, has_company: bool) -> str | None:
    """`text` as a clause with its subject; None when it is not about the speaker."""
    if turned := grammar["verb_last"].fullmatch(_bare(text)):
        return f"{turned['s']} {turned['v']} {turned['r'] or ''}"
    if turned := grammar["inverted"].fullmatch(_bare(text)):
        return f"{grammar.elide_as}{turned['v']} {turned['r']}"
    if before is not None and grammar["own"].match(before.text):
        if piece.separator in "&," and (more := _of_the_same(before.text, text, grammar)):
            return more
        before = None
    if before is not None and piece.separator in "&," and (more := grammar.continues(before.text, piece.text)):
        return more
    if before is not None and piece.separator in "&," and grammar["elided"].match(text):
        return grammar.elide_as + text
    is_led = grammar["prefix"].match(text) and not grammar["ask"].match(text)
    if is_led or grammar["subject"].match(text):
        return text
    goes_on = before is not None and piece.separator in "&," and grammar["be"].search(before.text)
    if goes_on and (grammar.states.match(text) or grammar.nations.match(text)):
        return grammar.states_as + text
    rewrites = (each for each in grammar.rewrites if has_company or each.alone)
    return next((said for each in rewrites if (said := each.rewritten(_bare(text)))), None)


def _of_the_same(before: str, text: str, grammar: Grammar) -> str | None:
    """`text` with the thing or animal of one's own that `before` is about ("Our dog is called Rex" and "is 12")."""
    owned = _OWNED.match(before)
    if owned is None or grammar.people.search(before) or not grammar["same_subject"].match(text):
        return None
    return f"{owned[0]} {text}"


def _judged(clause: str, grammar: Grammar) -> Statement | None:
    text = _bare(grammar["cut"].sub("", _bare(clause)))
    if HIDDEN in text or len(text) > LONGEST_CLAUSE or len(text.split()) < grammar.shortest or _is_secret(text):
        return None
    if any(grammar[veto].search(text) for veto in ("secret", "conditional", "passing_time", "doubtful")):
        return None
    if _blocked(text, grammar):
        return None
    refers = bool(grammar["dangling"].search(grammar["subject"].sub("", text, count=1)))
    return Statement(f"{text[0].upper()}{text[1:]}.", grammar, refers)


def _blocked(text: str, grammar: Grammar) -> bool:
    """Whether the verb tells a state of the conversation: a wish, a thought, a feeling."""
    core = grammar["prefix"].sub("", text, count=1)
    spoken = grammar["pronoun"].match(core)
    rest = core[spoken.end() :].lstrip() if spoken else core
    rest = rest if grammar["blocked"].match(rest) else grammar.adverbs.sub("", rest, count=1)
    return bool(spoken and grammar["blocked"].match(rest))


def _is_secret(text: str) -> bool:
    return bool((_DIGITS.search(text) and not _REGISTERED.search(text)) or _KEY.search(text))


def _bare(text: str) -> str:
    return _TRAILING.sub("", text.strip()).strip()
