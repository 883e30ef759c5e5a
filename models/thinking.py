"""Takes a model's reasoning out of a reply that arrives in pieces of any size."""

import re
from collections.abc import Callable

_TAG = re.compile(r"<\s{0,3}(?P<close>/)?\s{0,3}think(?:ing)?\s{0,3}(?P<empty>/)?\s{0,3}>", re.IGNORECASE)
_LONGEST_TAG = 24
_QUOTES = {"`": "`", '"': '"', "'": "'", "“": "”", "«": "»"}


class ThinkingFilter:
    """Passes on what is outside `<think>` blocks; whatever the splitting, the whole output is the same.

    - A block ends where as many closing as opening tags were seen. When that never happens, what follows the last
      closing tag is the reply; with no closing tag at all, `open` stays true and the rest is reasoning.
    - A closing tag outside any block means that the prompt's template had opened one: everything before it was
      reasoning, so `start_over` is called, and what was passed on until then must be forgotten.
    - A tag between a pair of quotes or backticks is being talked about, and stays.
    """

    def __init__(self, start_over: Callable[[], None]) -> None:
        self._start_over = start_over
        self._buffer = ""
        self._previous = ""
        self._depth = 0
        self._after_closing: str | None = None

    @property
    def open(self) -> bool:
        """Whether a block is open and holds no closing tag yet."""
        return self._depth > 0 and self._after_closing is None

    def feed(self, delta: str) -> str:
        """Take the next piece; return what of the reply is certain now."""
        self._buffer += delta
        return self._scan(final=False)

    def finish(self) -> str:
        """Return what was held back."""
        rest = self._scan(final=True)
        if self._depth and self._after_closing is not None:
            rest, self._after_closing = rest + self._after_closing, ""
        return rest

    def _scan(self, *, final: bool) -> str:
        kept = ""
        position = 0
        while (tag := _TAG.search(self._buffer, position)) is not None:
            following = self._buffer[tag.end() : tag.end() + 1]
            before = self._buffer[tag.start() - 1 : tag.start()] or self._previous
            if before in _QUOTES and not following and not final:
                return kept + self._take(tag.start())
            if before in _QUOTES and following == _QUOTES[before]:
                position = tag.end()
                continue
            kept += self._take(tag.start())
            kept = self._pass_tag(tag, kept)
            position = 0
        return kept + self._take(len(self._buffer) if final else self._certain())

    def _take(self, end: int) -> str:
        """Consume the buffer up to `end`; return it when it belongs to the reply."""
        text, self._buffer = self._buffer[:end], self._buffer[end:]
        self._previous = text[-1:] or self._previous
        if self._depth == 0:
            return text
        if self._after_closing is not None:
            self._after_closing += text
        return ""

    def _pass_tag(self, tag: re.Match[str], kept: str) -> str:
        self._buffer = self._buffer[len(tag.group()) :]
        self._previous = ">"
        if tag["close"] is None:
            self._depth += tag["empty"] is None
            return kept
        if self._depth == 0:
            self._start_over()
            return ""
        self._depth -= 1
        self._after_closing = "" if self._depth else None
        return kept

    def _certain(self) -> int:
        """Where a tag that is not complete yet may begin."""
        start = self._buffer.rfind("<")
        tail = self._buffer[start:] if start >= 0 else ""
        word = "".join(tail.lower().split()).lstrip("<").lstrip("/")
        unfinished = 0 < len(tail) < _LONGEST_TAG and ("thinking/".startswith(word) or word == "think/")
        return start if unfinished else len(self._buffer)
