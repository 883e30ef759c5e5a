"""What an expert's reply becomes: inert text that is quoted, cited and proposed as a fact, never read by a model."""

import re

from bs4 import BeautifulSoup

from condensery.errors import ConfigError
from condensery.memory.types import LONGEST_FACT
from condensery.retrieval.sentences import sentence_spans
from condensery.retrieval.text import beginning, is_blank, one_line, uniform
from condensery.retrieval.types import Chunk, Placement, ScoredChunk, Trace
from condensery.workflows.turn import Citation

LONGEST_NAME = 80
LONGEST_REASON = 500
NAMELESS = "expert"

_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<!--|<!\w")
_UNREAD = ["script", "style", "template", "noscript", "iframe", "svg", "head"]
_BLOCKS = ["br", "p", "div", "li", "tr", "blockquote", "pre", "h1", "h2", "h3", "h4", "h5", "h6"]
_BREAKS = re.compile(r"\s*\n\s*")
_ORDERING = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069]")


def plain(reply: str) -> str:
    """`reply` as text: without markup, without what is not shown, one paragraph per line."""
    text = uniform(reply)
    if _TAG.search(text):
        page = BeautifulSoup(text, "html.parser")
        for unread in page.find_all(_UNREAD):
            unread.decompose()
        for block in page.find_all(_BLOCKS):
            block.insert_before("\n")
            block.insert_after("\n")
        text = page.get_text()
    return _BREAKS.sub("\n", "\n".join(" ".join(line.split()) for line in _ORDERING.sub("", text).split("\n"))).strip()


def checked_reply(reply: str, *, most: int) -> str:
    """The text of `reply`; raises `ConfigError` when it holds none, or more than `most` characters."""
    if len(reply) > most:
        raise ConfigError(f"the reply has {len(reply)} characters; at most {most} are taken (experts.reply_chars)")
    text = plain(reply)
    if is_blank(text):
        raise ConfigError("the reply holds no text; write an answer, or decline")
    return text


def checked_name(name: str | None) -> str:
    """Who replied, on one line; raises `ConfigError` for a name that is too long."""
    text = one_line(plain(name or "")) or NAMELESS
    if len(text) > LONGEST_NAME:
        raise ConfigError(f"an expert's name has at most {LONGEST_NAME} characters, got {len(text)}")
    return text


def reason_from(text: str) -> str:
    """Why an expert declined, on one line and cut."""
    return beginning(plain(text), LONGEST_REASON)


def as_evidence(request_id: str, expert: str, reply: str) -> ScoredChunk:
    """The reply as the evidence of its answer."""
    chunk = Chunk(id=f"expert:{request_id}", text=reply, source=f"expert: {expert}", end=len(reply))
    return ScoredChunk(chunk=chunk, score=1.0, trace=Trace(final=Placement(rank=1, score=1.0)))


def quoted(reply: str) -> str:
    """The reply as an answer shows it: each paragraph a quote, cited."""
    return "\n\n".join(f"“{line}” [1]" for line in reply.splitlines())


def citations_of(evidence: ScoredChunk) -> tuple[Citation, ...]:
    """The citation of each paragraph."""
    chunk, found, at = evidence.chunk, [], 0
    for line in chunk.text.splitlines():
        end = at + len(line)
        cited = Citation(number=1, chunk_id=chunk.id, source=chunk.source, quote=line, start=at, end=end)
        found.append(cited)
        at = end + 1
    return tuple(found)


def as_fact(question: str, reply: str) -> str | None:
    """What may become a fact of an organization: the question with as many whole sentences as a fact can have."""
    text = one_line(reply)
    ends = [end for _, end in sentence_spans(text)] or [len(text)]
    fitting = [f"{question} – {text[:end]}" for end in ends]
    return next((fact for fact in reversed(fitting) if len(fact) <= LONGEST_FACT), None)
