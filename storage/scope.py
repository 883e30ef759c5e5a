"""What a search may return, as SQL and as a predicate; both say the same, and a test holds them together."""

import re
from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, String, Text, cast, false, literal, literal_column

from condensery.errors import ConfigError
from condensery.retrieval.types import Chunk, Scope
from condensery.storage.text import clean_text

_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_FIELDS = ("source", "title", "heading", "namespace", "page", "start", "end")
INDEXED = ("namespace", "source")
RESERVED = frozenset(_FIELDS) | {"document_id", "doc_id", "ref_doc_id"}


def checked_scope(scope: Scope) -> Scope:
    """Return `scope` as the database compares it; raise ConfigError for a filter key that is no plain name."""
    for key in scope.filters:
        if not _KEY.match(key):
            raise ConfigError(f"filter key {key!r} is not a name; use letters, digits and underscores only")
    return Scope(
        namespaces=tuple(clean_text(name) for name in scope.namespaces),
        filters={key: clean_text(value) for key, value in scope.filters.items()},
    )


def is_metadata_key(key: str) -> bool:
    """Whether a document's metadata may use `key`."""
    return bool(_KEY.match(key)) and not key.startswith("_") and key not in RESERVED


def checked_metadata(metadata: Mapping[str, str]) -> dict[str, str]:
    """Return document metadata as it may be stored; raise ConfigError for a key that is no name or one of ours."""
    for key in metadata:
        if not is_metadata_key(key):
            raise ConfigError(
                f"metadata key {key!r} cannot be used; take letters, digits and underscores, not beginning with an "
                f"underscore, and none of {', '.join(sorted(RESERVED))}"
            )
    return {key: clean_text(value) for key, value in metadata.items()}


def attributes(chunk: Chunk) -> dict[str, Any]:
    """What is stored beside a chunk's text: its document's metadata and its own fields. Filters match these."""
    return {**chunk.metadata, **{name: getattr(chunk, name) for name in _FIELDS}}


def in_scope(chunk: Chunk, scope: Scope) -> bool:
    """Whether `chunk` may be returned; values are compared as strings, exactly."""
    if scope.namespaces and chunk.namespace not in scope.namespaces:
        return False
    return all(_value(chunk, key) == value for key, value in scope.filters.items())


def _value(chunk: Chunk, key: str) -> str | None:
    value = getattr(chunk, key) if key in _FIELDS else chunk.metadata.get(key)
    return None if value is None else str(value)


def scope_clauses(column: ColumnElement[Any], scope: Scope) -> list[ColumnElement[bool]]:
    """The conditions of `scope` on a JSON `column` of attributes; keys and values are bound, never part of the SQL."""
    clauses: list[ColumnElement[bool]] = []
    if scope.namespaces:
        clauses.append(own_field(column, "namespace").in_(scope.namespaces))
    for key, value in scope.filters.items():
        if key in INDEXED:
            clauses.append(own_field(column, key) == literal(value, Text))
        elif key in _FIELDS or is_metadata_key(key):
            clauses.append(column.op("->>", return_type=Text())(literal(key, Text)) == literal(value, Text))
        else:
            clauses.append(false())  # what LlamaIndex keeps beside our fields is no metadata of a document
    return clauses


def own_field(column: ColumnElement[Any], name: str) -> ColumnElement[str]:
    """One of our own fields, spelled as the indexes of the table spell it, so that Postgres uses them."""
    field = column.op("->>", return_type=Text())(literal_column(f"'{name}'", Text))
    return cast(field, String) if name in INDEXED else field
