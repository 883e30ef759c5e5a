"""Text as Markdown for Chainlit's page, which knows directives (`:name`) besides what GitHub knows."""

import re

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_EMPHASIS = re.compile(r"([*_`~<])")
_ROW = re.compile(r"“\|\s*(.*?)\s*\|”")
_DIRECTIVE = re.compile(r":(?=[A-Za-z])")
_CODE_OR_DIRECTIVE = re.compile(rf"(?P<code>```.*?(?:```|\Z)|`[^`\n]+`)|{_DIRECTIVE.pattern}", re.DOTALL)


def verbatim(text: str) -> str:
    """Markdown that shows `text` as it is, whatever signs it is made of."""
    return _PUNCTUATION.sub(r"\\\1", text)


def prose(text: str) -> str:
    """Markdown for quoted text that is read and copied: only what would vanish or turn into emphasis is escaped.

    A quoted row of a table reads `“Single · 19.00”`.
    """
    text = _ROW.sub(r"“\1”", text).replace(" | ", " · ")
    return _DIRECTIVE.sub(r"\\:", _EMPHASIS.sub(r"\\\1", text))


def without_directives(markdown: str) -> str:
    """`markdown` without directives, which would swallow half of `from:to`; code is left alone."""
    return _CODE_OR_DIRECTIVE.sub(lambda found: found["code"] or "\\:", markdown)
