"""Cuts a reply where the model goes on to write the next turns of the conversation by itself."""

import re

_ROLES = ("User", "USER", "Human", "HUMAN", "Benutzer", "Nutzer", "Utilisateur", "Utente")
_ROLE_LINE = re.compile(rf"(?:{'|'.join(_ROLES)}) ?[:：]")
_LABELLED_LINE = re.compile(r"\W*[^\W\d_][\w .'’-]{0,30}[:：](?:\s|$)")
_FENCES = ("```", "~~~")


class TurnFilter:
    """Passes a reply on up to the first line that begins with the name of the person's role and a colon.

    Such a line stays, because it is quoted or belongs to a list, when it is the first line; inside a code fence; below
    a line that ends with a colon; right below a line of the same form ("Name: …"); or after another one that stayed.
    Indented lines, list items, block quotes and bold names are formatting, not invented turns, and stay as well.
    """

    def __init__(self) -> None:
        self.ended = False
        self._line = ""
        self._shown = 0
        self._first = True
        self._in_fence = False
        self._introduced = False
        self._beside_label = False
        self._quoting = False

    def feed(self, delta: str) -> str:
        """Take the next piece; return what is certain now."""
        return "".join(self._part(part) for part in re.split(r"(?<=\n)", delta))

    def finish(self) -> str:
        """Return what was held back."""
        return "" if self.ended else self._show()

    def _part(self, part: str) -> str:
        if self.ended:
            return ""
        self._line += part
        if _ROLE_LINE.match(self._line) and self._is_invented():
            self.ended = True
            return ""
        shown = "" if self._may_become_role() else self._show()
        if part.endswith("\n"):
            shown += self._show()
            self._close_line()
        return shown

    def _is_invented(self) -> bool:
        self._quoting = self._quoting or self._first or self._introduced or self._beside_label
        return not (self._quoting or self._in_fence)

    def _may_become_role(self) -> bool:
        return any(f"{role} ".startswith(self._line) for role in _ROLES) and not self._first

    def _show(self) -> str:
        shown = self._line[self._shown :]
        self._shown = len(self._line)
        return shown

    def _close_line(self) -> None:
        line = self._line.strip()
        if line.startswith(_FENCES):
            self._in_fence = not self._in_fence
        self._introduced = self._introduced if not line else line.endswith((":", "："))
        self._beside_label = bool(line) and _LABELLED_LINE.match(self._line) is not None
        self._line, self._shown, self._first = "", 0, False
