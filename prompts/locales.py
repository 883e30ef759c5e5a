"""The locales there are: the folders beside this file. To add one is to add a folder."""

from importlib import resources


def _there() -> tuple[str, ...]:
    folders = resources.files("condensery.prompts").iterdir()
    return tuple(sorted(each.name for each in folders if each.is_dir() and each.joinpath("messages.toml").is_file()))


LOCALES: tuple[str, ...] = _there()
"""Their codes, as ISO 639-1 has them."""


def known_locale(code: str) -> str:
    """`code`; raise ValueError, which lists the choices, when there are no texts in that language."""
    if code not in LOCALES:
        raise ValueError(f"must be one of {', '.join(LOCALES)}")
    return code
