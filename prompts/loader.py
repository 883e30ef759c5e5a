"""Loads the templates and texts of one locale and checks them when loaded, so that a gap fails at start-up.

A template is `<locale>/<name>.md` with variables written `{{name}}`; what is put in is never read as a template.
"""

import re
import tomllib
from collections.abc import Mapping
from copy import copy
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from condensery.errors import ConfigError, RefusalReason
from condensery.prompts.locales import LOCALES as LOCALES
from condensery.workflows.turn import FallbackReason

VARIABLES: dict[str, frozenset[str]] = {
    "system": frozenset(),
    "talk": frozenset(),
    "rewriting": frozenset(),
    "condense": frozenset({"conversation", "message"}),
    "hypothesize": frozenset({"question"}),
    "judge": frozenset({"question", "passage"}),
    "answer": frozenset({"evidence", "message"}),
    "memories": frozenset({"memories"}),
    "extract": frozenset({"question", "answer"}),
    "shared_memories": frozenset({"memories"}),
    "title": frozenset({"question"}),
    "suggest": frozenset({"question", "passages", "most"}),
    "sufficient": frozenset({"question", "evidence"}),
    "classify": frozenset({"labels", "examples", "question"}),
}
"""The templates there are, and exactly the variables each must use."""

TEXTS = frozenset({f"refusal.{reason}" for reason in RefusalReason}) | {
    *(f"fallback.{reason}" for reason in FallbackReason),
    "guard.caution",
    "guard.closest",
    "guard.doubtful",
    "guard.missing",
    "small_talk.greeting",
    "small_talk.thanks",
    "small_talk.farewell",
    "small_talk.acknowledgement",
    "meta.identity",
    "meta.capabilities",
    "meta.documents",
    "meta.no_documents",
    "meta.can_answer",
    "meta.can_follow_up",
    "meta.can_write",
    "meta.can_quote",
    "meta.can_talk",
    "meta.can_ask_expert",
    "meta.can_refuse",
    "meta.can_remember",
    "meta.can_not_remember",
    "meta.count",
    "meta.one_document",
    "meta.memory",
    "meta.memory_none",
    "meta.memory_empty",
    "meta.memory_off",
    "meta.memory_waiting",
    "meta.memory_of_nobody",
    "meta.memory_failed",
    "meta.memory_erasing",
    "memory.recalled",
    "memory.told",
    "suggest.section",
    "suggest.introduction",
    "experts.offer",
    "experts.asking",
    "experts.not_asked",
    "experts.too_late",
    "experts.answers",
    "experts.because",
    "judge.yes",
    "judge.no",
    "ui.searched_for",
    "ui.not_rewritten",
    "ui.lent",
    "ui.sources",
    "ui.better_model",
    "ui.english_only",
    "ui.stopped",
    "ui.steps",
    "ui.page",
    "ui.agent",
    "ui.agent_help",
    "ui.engine",
    "ui.engine_help",
    "ui.method",
    "ui.method_help",
    "ui.this_chat",
    "ui.all_chats",
    "ui.as_set",
    "ui.not_changed",
    "ui.placeholder",
    "ui.watermark",
    "ui.help",
}

_VARIABLE = re.compile(r"\{\{(\w+)\}\}")


def fill(template: str, variables: Mapping[str, str]) -> str:
    """`template` with each `{{name}}` replaced in one pass; braces in the values stay as they are."""
    return _VARIABLE.sub(lambda match: variables[match.group(1)], template)


class Prompts:
    """The prompts and texts of one locale. Raises `ConfigError` on construction when one is missing or wrong."""

    def __init__(self, locale: str, folder: Traversable | None = None) -> None:
        root = (folder or resources.files("condensery.prompts")).joinpath(locale)
        self.locale = locale
        self._templates = {name: _checked(root, name) for name in VARIABLES}
        self._texts = _texts(root)
        self._own: Path | None = None
        self.gate: dict[str, list[str]] = _toml(root, "gate.toml")["phrases"]
        self.consent: dict[str, list[str]] = _toml(root, "consent.toml")
        self.refusals: dict[str, list[str]] = _toml(root, "refusals.toml")
        self.references: dict[str, list[str]] = _toml(root, "references.toml")
        self.facts: dict[str, Any] = _toml(root, "facts.toml")
        self.own_questions: list[dict[str, Any]] = _toml(root, "own_questions.toml")["asks"]
        self.rewriting: dict[str, Any] = _toml(root, "rewriting.toml")
        self.ordinary: dict[str, list[str]] = _toml(root, "ordinary.toml")

    def with_templates(self, folder: Path) -> "Prompts":
        """The same, but for the templates in `folder`: `<locale>/<name>.md`, or `<name>.md` for every locale.

        Raises `ConfigError` for a folder that is none or has no template, and a template that lacks a variable.
        """
        found = {name: path for name in VARIABLES if (path := _own_template(folder, self.locale, name))}
        if not found and not _has_templates(folder):
            raise ConfigError(f"{folder} is no folder with a template; it may hold {', '.join(VARIABLES)}, each .md")
        prompts = copy(self)
        prompts._own = folder
        prompts._templates = self._templates | {
            name: _checked_text(path.read_text(encoding="utf-8"), name, str(path)) for name, path in found.items()
        }
        return prompts

    def in_locale(self, locale: str) -> "Prompts":
        """Those of another locale, with the templates that stand for built-in ones here."""
        return prompts_for(locale) if self._own is None else prompts_for(locale).with_templates(self._own)

    def render(self, name: str, **variables: str) -> str:
        """The template `name` with all its variables; a missing or unknown variable is a `ConfigError`."""
        if set(variables) != VARIABLES[name]:
            raise ConfigError(f"prompt '{name}' takes {sorted(VARIABLES[name])}, got {sorted(variables)}")
        return fill(self._templates[name], variables)

    def text(self, key: str, **variables: str) -> str:
        """A short text for people, such as `refusal.busy`."""
        return fill(self._texts[key], variables)

    def not_rewritten(self, why: FallbackReason) -> str:
        """That a search did without a rewritten question, and why, for whoever asked."""
        return self.text("ui.not_rewritten", reason=self.text(f"fallback.{why}"))


@cache
def prompts_for(locale: str) -> Prompts:
    """The prompts of `locale`, loaded once."""
    return Prompts(locale)


def _checked(root: Traversable, name: str) -> str:
    return _checked_text(_read(root, f"{name}.md"), name, f"{root.name}/{name}.md")


def _checked_text(text: str, name: str, place: str) -> str:
    if (used := set(_VARIABLE.findall(text))) != VARIABLES[name]:
        raise ConfigError(f"{place} uses {sorted(used)}; it must use {sorted(VARIABLES[name])}")
    return text.strip()


def _own_template(folder: Path, locale: str, name: str) -> Path | None:
    """The file that stands for a built-in template: that of the locale before that of all."""
    return next((path for path in (folder / locale / f"{name}.md", folder / f"{name}.md") if path.is_file()), None)


def _has_templates(folder: Path) -> bool:
    return any(_own_template(folder, locale, name) for locale in LOCALES for name in VARIABLES)


def _texts(root: Traversable) -> dict[str, str]:
    tables = _toml(root, "messages.toml")
    texts = {f"{table}.{key}": value for table, entries in tables.items() for key, value in entries.items()}
    if missing := TEXTS - set(texts):
        raise ConfigError(f"{root.name}/messages.toml lacks {', '.join(sorted(missing))}")
    return texts


def _toml(root: Traversable, name: str) -> dict[str, Any]:
    return tomllib.loads(_read(root, name))


def _read(root: Traversable, name: str) -> str:
    try:
        return root.joinpath(name).read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"the locale '{root.name}' has no {name}; add it beside the other templates") from error
