"""Token bytes to text: characters are never split, and text ends before a stop string; pure, one instance per call."""

import codecs
from collections.abc import Sequence


class TextDecoder:
    """Turns the bytes of one token after another into text that is certain.

    Bytes of a character that is not complete yet are held back, and so is text that may be the beginning of a stop
    string. `stopped` is true once a stop string was found; it and what follows are dropped.
    """

    def __init__(self, stop: Sequence[str] = ()) -> None:
        self.stopped = False
        self._stop = [text for text in stop if text]
        self._characters = codecs.getincrementaldecoder("utf-8")(errors="ignore")
        self._held = ""

    def feed(self, piece: bytes) -> str:
        """Take the bytes of the next token; return the text that is certain now."""
        return self._release(self._characters.decode(piece))

    def finish(self) -> str:
        """Return what was held back; an incomplete character at the very end is dropped."""
        certain = self._release(self._characters.decode(b"", final=True))
        rest, self._held = ("" if self.stopped else self._held), ""
        return certain + rest

    def _release(self, text: str) -> str:
        if self.stopped:
            return ""
        text = self._held + text
        found = [at for at in map(text.find, self._stop) if at >= 0]
        self.stopped = bool(found)
        end = min(found) if found else len(text) - self._may_begin_stop(text)
        self._held = "" if found else text[end:]
        return text[:end]

    def _may_begin_stop(self, text: str) -> int:
        """Length of the longest end of `text` that a stop string begins with."""
        longest = max((len(stop) - 1 for stop in self._stop), default=0)
        lengths = range(min(longest, len(text)), 0, -1)
        return next((n for n in lengths if any(stop.startswith(text[-n:]) for stop in self._stop)), 0)
